"""Users that stand in a column without a label: beside an address or an empty column of a request, in a cell.

Proxies and web servers write who asked between columns that hold an address, a port or ``-`` for nothing; only lines
with a request are looked at, and hosts and protocols, which stand in such columns too, are nobody.
"""

from __future__ import annotations

from shoal.text.logs.signed_patterns import SignedPattern

_IP = r"\d{1,3}(?:\.\d{1,3}){3}"
_METHOD = r"(?:GET|POST|PUT|HEAD|DELETE|PATCH|CONNECT|OPTIONS|PROPFIND|(?:80|443|8080) /)"
_METHODS = (
    "get ", "post ", "put ", "head ", "delete ", "patch ", "connect ", "options ", "propfind ", "80 /", "443 /",
)  # fmt: skip
_NO_USER = (
    r"(?!(?:tcp|udp|icmp|https?|ftps?|ssl|tls|quic|dns|ws|wss|rtmp|any|gzip|text|html|json|allowed|blocked|none)\b"
    r"|[A-Z_]+\s|[\w.-]+\.(?:com|net|org|edu|gov|io|info|biz|local|lan|html?|[a-z]{2})\s)"
)
_WHO = rf"{_NO_USER}(?P<value>[A-Za-z][\w.$-]{{2,31}})"

COLUMNS = (
    SignedPattern.of(rf"\b{_METHOD} .*?(?:(?<=[\d-] )|\s\?\S+ ){_WHO}(?= (?:-|{_IP})(?: |$))", *_METHODS),
    SignedPattern.of(rf"(?<=[\d.]\d ){_WHO}(?= (?:- ){{2,}}.*\b{_METHOD} )", *_METHODS),
    SignedPattern.of(r"^\S+ (?P<value>[A-Za-z][\w.-]*) \d+ (?=\[\d{1,2}/[A-Z][a-z]{2}/\d{4}:)", " ["),
    SignedPattern.of(r"(?<=,)[\w.-]+\\{1,2}(?P<value>[A-Za-z][\w.$-]+)(?=[,@])", "\\"),
    SignedPattern.of(r"(?<=,)(?P<value>root|[Aa]dmin(?:istrator)?|[Gg]uest)(?=,|$)", ",root", ",admin", ",guest"),
)
