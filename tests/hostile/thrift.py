"""The compact protocol of Thrift, as much of it as the footer of a Parquet file needs: to a tree and back."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

_TRUE, _FALSE, _BYTE, _I16, _I32, _I64, _DOUBLE, _BINARY, _LIST, _SET, _MAP, _STRUCT = range(1, 13)
INTEGERS: Final = (_I16, _I32, _I64)
BINARY: Final = _BINARY


@dataclass
class Field:
    number: int
    type: int
    value: Any


@dataclass
class Items:
    type: int
    values: list[Any]


class Reader:
    def __init__(self, content: bytes) -> None:
        self._content = content
        self._at = 0

    def struct(self) -> list[Field]:
        found, last = list[Field](), 0
        while head := self._byte():
            last = last + (head >> 4) if head >> 4 else self._zigzag()
            found.append(Field(last, head & 15, self._value(head & 15, inside=False)))
        return found

    def _value(self, kind: int, *, inside: bool) -> Any:
        if kind in (_TRUE, _FALSE) and not inside:
            return kind
        ways: dict[int, Callable[[], Any]] = {
            **dict.fromkeys((_TRUE, _FALSE, _BYTE), self._byte),
            **dict.fromkeys(INTEGERS, self._zigzag),
            _DOUBLE: lambda: self._bytes(8),
            _BINARY: lambda: self._bytes(self._varint()),
            **dict.fromkeys((_LIST, _SET), self._items),
            _STRUCT: self.struct,
        }
        return ways[kind]()

    def _items(self) -> Items:
        head = self._byte()
        size = head >> 4 if head >> 4 < 15 else self._varint()
        return Items(head & 15, [self._value(head & 15, inside=True) for _ in range(size)])

    def _byte(self) -> int:
        self._at += 1
        return self._content[self._at - 1]

    def _bytes(self, size: int) -> bytes:
        self._at += size
        return self._content[self._at - size : self._at]

    def _varint(self) -> int:
        found, shift = 0, 0
        while True:
            byte = self._byte()
            found |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return found

    def _zigzag(self) -> int:
        found = self._varint()
        return found >> 1 ^ -(found & 1)


def written(fields: list[Field]) -> bytes:
    out, last = bytearray(), 0
    for field in fields:
        step = field.number - last
        if 0 < step < 16:
            out.append(step << 4 | field.type)
        else:
            out.append(field.type)
            out += _zigzag(field.number)
        last = field.number
        if field.type not in (_TRUE, _FALSE):
            out += _value(field.type, field.value)
    return bytes(out) + b"\0"


def _value(kind: int, value: Any) -> bytes:
    if kind in (_TRUE, _FALSE, _BYTE):
        return bytes([value & 255])
    if kind in INTEGERS:
        return _zigzag(value)
    if kind == _DOUBLE:
        return bytes(value)
    if kind == _BINARY:
        return _varint(len(value)) + value
    if kind == _STRUCT:
        return written(value)
    size = len(value.values)
    head = bytes([size << 4 | value.type]) if size < 15 else bytes([240 | value.type]) + _varint(size)
    return head + b"".join(_value(value.type, each) for each in value.values)


def _varint(value: int) -> bytes:
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    return bytes([*out, value])


def _zigzag(value: int) -> bytes:
    return _varint((value << 1 ^ value >> 63) & (2**64 - 1))
