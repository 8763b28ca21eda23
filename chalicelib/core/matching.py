"""How a permission looks at a value: in its one spelling, with the matchers that fit its kind."""

from __future__ import annotations

import math
import posixpath
import unicodedata
from collections.abc import Callable, Mapping
from typing import Any

from chalicelib.core import egress
from chalicelib.core.egress import WEB_PORTS, HostPattern
from chalicelib.core.errors import EgressRefused
from chalicelib.core.mail import ADDRESS
from chalicelib.core.tools import Matching

MATCHERS: Mapping[Matching, tuple[str, ...]] = {
    Matching.TEXT: ("eq", "in", "prefix"),
    Matching.ADDRESS: ("eq", "in", "prefix"),
    Matching.HOST: ("host_in",),
    Matching.NUMBER: ("eq", "in", "max"),
    Matching.PATH: ("eq", "in", "path_under"),
}
LISTS = frozenset({"in", "host_in"})
"""The matchers that take several values, any of which will do."""

LARGEST_EXACT = 2**53
"""Beyond it, JSON's numbers are not the same in every language."""

ANY_NAME_BELOW = "*."


def canonical(kind: Matching, value: Any) -> Any:
    """The one spelling of a value, or of each in a list. Raises ValueError for what has none.

    Text is composed (NFC), a mail address is lower case, a host is lower case, punycode and without a trailing dot or
    a port of the web, a path has no `.`, no empty parts and does not lead upwards.
    """
    if isinstance(value, list | tuple):
        return [_SPELLING[kind](each) for each in value]
    return _SPELLING[kind](value)


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise ValueError("a string")
    if any("\ud800" <= char <= "\udfff" for char in value):
        raise ValueError("a string of whole characters, without half of a surrogate pair")
    return unicodedata.normalize("NFC", value)


def _address(value: Any) -> str:
    """Mailboxes whose names differ in case alone are two by the standard, and one wherever mail is received."""
    address = _text(value).lower()
    if ADDRESS.fullmatch(address) is None:
        raise ValueError("an address such as jo@example.com")
    return address


def _number(value: Any) -> int | float:
    if type(value) not in (int, float) or not math.isfinite(value) or abs(value) > LARGEST_EXACT:
        raise ValueError("a number up to 2^53")
    return value  # type: ignore[no-any-return] # mypy does not read `type(value) in`


def _path(value: Any) -> str:
    text = _text(value)
    if not text or "\x00" in text or "\\" in text or ".." in text.split("/"):
        raise ValueError("a path that does not lead upwards")
    return "/" + posixpath.normpath(text).lstrip("/") if text.startswith("/") else posixpath.normpath(text)


def _host(value: Any) -> str:
    name, colon, port = _text(value).partition(":")
    if colon and not (port.isascii() and port.isdecimal() and 0 < int(port) < 65_536):
        raise ValueError("a host, or a host and a port")
    try:
        host = egress.canonical(name)
    except EgressRefused:
        raise ValueError("the name of a host") from None
    return host if not port or int(port) in WEB_PORTS else f"{host}:{int(port)}"


def host_pattern(value: Any) -> str:
    """The one spelling of `api.example.com`, `*.example.com` (every name below it) or either with a port.

    Raises ValueError, also for what would match half the world, or an address.
    """
    try:
        pattern = HostPattern.parse(_text(value))
    except EgressRefused:
        raise ValueError("a public name such as api.example.com, or *.example.com") from None
    if pattern.port in WEB_PORTS:
        raise ValueError("no port, which means those of the web, or another one than 80 and 443")
    below, port = ANY_NAME_BELOW if pattern.below else "", "" if pattern.port is None else f":{pattern.port}"
    return f"{below}{pattern.name}{port}"


_SPELLING: Mapping[Matching, Callable[[Any], Any]] = {
    Matching.TEXT: _text,
    Matching.ADDRESS: _address,
    Matching.HOST: _host,
    Matching.NUMBER: _number,
    Matching.PATH: _path,
}


def wanted(kind: Matching, matcher: str, value: Any) -> Any:
    """One value of a matcher in its one spelling. Raises ValueError, which says what is expected."""
    if matcher == "host_in":
        return host_pattern(value)
    if isinstance(value, list | tuple):
        raise ValueError("one value")
    if matcher == "prefix":
        # The beginning of an address is none.
        return _text(value).lower() if kind is Matching.ADDRESS else _text(value)
    return _SPELLING[kind](value)


def meets(matcher: str, given: Any, value: Any) -> bool:
    """Whether a canonical value is what the matcher wants."""
    return _MATCHES[matcher](value, given)


def names_exactly(matcher: str, given: Any, value: Any) -> bool:
    """Whether a host is granted by its own name, not by a pattern that others meet too."""
    return matcher == "host_in" and any(
        not pattern.startswith(ANY_NAME_BELOW) and _host_meets(value, pattern) for pattern in given
    )


def _host_meets(host: str, pattern: str) -> bool:
    return HostPattern.parse(pattern).matches_place(host)


def _is_under(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder.rstrip("/") + "/")


_MATCHES: Mapping[str, Callable[[Any, Any], bool]] = {
    "eq": lambda value, given: value == given,
    "in": lambda value, given: value in given,
    "prefix": lambda value, given: value.startswith(given),
    "max": lambda value, given: value <= given,
    "host_in": lambda value, given: any(_host_meets(value, pattern) for pattern in given),
    "path_under": _is_under,
}
