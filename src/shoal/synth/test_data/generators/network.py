"""Addresses of machines that are kept for documents: nothing on the net answers at them.

IPv4 from the three blocks of RFC 5737, IPv6 from 2001:db8::/32 (RFC 3849). MAC addresses are local ones: the second
bit of the first byte says that no manufacturer gave them out (IEEE 802), or, with ``kind: documentation``, from the
256 of RFC 7042.
"""

from __future__ import annotations

from typing import ClassVar, Literal

import polars as pl

from shoal.synth.test_data.base import Assurance, CodeGenerator, ListGenerator, Standing
from shoal.synth.test_data.code_layout import CodeLayout, CodePart, literal

_BLOCKS = ("192.0.2", "198.51.100", "203.0.113")
_IPV4 = pl.Series([f"{block}.{host}" for block in _BLOCKS for host in range(256)])
_GROUP = [CodePart.of(f"{group:04x}" for group in range(0x1000, 0x10000))]
"""Without leading zeros, as RFC 5952 writes addresses."""
_IPV6 = CodeLayout(literal("2001:db8::") + _GROUP + literal(":") + _GROUP + literal(":") + _GROUP)
_BYTE = [CodePart.of(f"{byte:02x}" for byte in range(256))]
_LOCAL = CodePart.of(f"{byte:02x}" for byte in range(256) if byte & 3 == 2)
"""First bytes of addresses that are local and of one machine."""
_MACS = {
    "local": CodeLayout([_LOCAL, *(literal(":") + _BYTE) * 5]),
    "documentation": CodeLayout(literal("00:00:5e:00:53:") + _BYTE),
}


class Ipv4Addresses(ListGenerator):
    key = "ipv4"
    title = "IPv4 addresses for documents"
    stands_for: ClassVar = {"ipv4": {}}

    @property
    def listed(self) -> pl.Series:
        return _IPV4

    @property
    def assurance(self) -> Assurance:
        return Assurance(Standing.RESERVED, "kept for documents, and routed nowhere", "RFC 5737")


class Ipv6Addresses(CodeGenerator):
    """
    >>> import numpy as np
    >>> Ipv6Addresses().write(np.array([0])).to_list()
    ['2001:db8::1000:1000:1000']
    """

    key = "ipv6"
    title = "IPv6 addresses for documents"
    stands_for: ClassVar = {"ipv6": {}}

    @property
    def layout(self) -> CodeLayout:
        return _IPV6

    @property
    def assurance(self) -> Assurance:
        return Assurance(Standing.RESERVED, "kept for documents, and routed nowhere", "RFC 3849")


class MacAddresses(CodeGenerator):
    """
    >>> import numpy as np
    >>> MacAddresses().write(np.array([0])).to_list()
    ['02:00:00:00:00:00']
    """

    kind: Literal["local", "documentation"] = "local"
    """``documentation`` for the few of RFC 7042."""

    key = "mac"
    title = "MAC addresses that no manufacturer gives out"
    shorthand = "kind"
    stands_for: ClassVar = {"mac": {}}

    @property
    def layout(self) -> CodeLayout:
        return _MACS[self.kind]

    @property
    def assurance(self) -> Assurance:
        if self.kind == "local":
            return Assurance(Standing.RESERVED, "the bit of local addresses is set: no manufacturer's", "IEEE 802")
        return Assurance(Standing.RESERVED, "kept for documents", "RFC 7042")
