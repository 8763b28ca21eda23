"""Where the runtime may go on the internet: which hosts, which addresses, and where a redirect may lead.

A URL is read once, here; what is judged is what is dialled. A host is a name, never an address: addresses are judged
when the name has been resolved, and one inside answer among public ones refuses them all.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from urllib.parse import SplitResult, quote, urljoin, urlsplit

from chalicelib.core.errors import EgressRefused

WEB_PORTS = frozenset({80, 443})
DEFAULT_PORT = {"http": 80, "https": 443}
MAX_REDIRECTS = 3
MAX_URL = 2_048
MAX_NAME = 253

CREDENTIALS = frozenset({"authorization", "cookie", "proxy-authorization"})
"""Headers that stay with the origin for which they were meant. In lower case."""

LOOPBACK_HOSTS = frozenset({"localhost", "127.0.0.1", "::1"})

_LABEL = re.compile(r"[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?")
_NUMBER = re.compile(r"\d+|0x[0-9a-f]*")
_UNSAFE = re.compile(r"[\x00-\x20\x7f\\]")
_ASCII = "".join(map(chr, range(0x21, 0x7F)))

_GLOBAL_UNICAST = ip_network("2000::/3")
_INSIDE = tuple(
    ip_network(text)
    for text in (
        "100.64.0.0/10",  # shared address space of carriers and clouds
        "168.63.129.16/32",  # Azure's wire server
        "192.0.0.0/24",  # protocol assignments, of which older Pythons know only a part
        "192.88.99.0/24",  # relays of 6to4
        "64:ff9b::/96",  # NAT64: an IPv4 address inside
        "64:ff9b:1::/48",  # the same, of one's own network
        "2001::/32",  # Teredo: an IPv4 address inside
        "2002::/16",  # 6to4: an IPv4 address inside
        "fec0::/10",  # site-local, as it was
    )
)
"""Not reachable as what they look like, or not meant for everybody, whatever `is_global` says."""


def canonical(host: str) -> str:
    """The one spelling of a host: lower case, punycode, no trailing dot. Raises `EgressRefused`."""
    if ":" in host:
        return _literal(host)
    try:
        name = host.encode("idna").decode().lower().removesuffix(".") if len(host) <= MAX_NAME else ""
    except UnicodeError:
        name = ""
    if len(name) > MAX_NAME or not all(map(_LABEL.fullmatch, name.split("."))):
        raise EgressRefused("invalid_host", "the host is no name")
    return name


def _literal(host: str) -> str:
    try:
        address = IPv6Address(host)
    except ValueError:
        raise EgressRefused("invalid_host", "the host is no name") from None
    if address.scope_id is not None:
        raise EgressRefused("invalid_host", "an address of one link only is no host")
    return str(address)


def is_address(host: str) -> bool:
    """Whether a canonical host is an address in any spelling that some resolver takes: 127.1, 0x7f000001, ::1."""
    return ":" in host or _NUMBER.fullmatch(host.rpartition(".")[2]) is not None


def is_public(address: str) -> bool:
    """Whether the address, as a resolver gives it, is one of the public internet."""
    try:
        found = ip_address(address)
    except ValueError:
        return False
    found = _unmapped(found)
    if isinstance(found, IPv6Address) and found not in _GLOBAL_UNICAST:
        return False
    return found.is_global and not found.is_multicast and not any(found in inside for inside in _INSIDE)


def _unmapped(address: IPv4Address | IPv6Address) -> IPv4Address | IPv6Address:
    return (isinstance(address, IPv6Address) and address.ipv4_mapped) or address


@dataclass(frozen=True, slots=True)
class Target:
    """What a URL says, in its canonical spelling. `path` has the query with it; a fragment never goes over the wire."""

    scheme: str
    host: str
    port: int
    path: str

    @classmethod
    def parse(cls, url: str) -> Target:
        """Raises `EgressRefused` for what is no plain http or https URL."""
        if len(url) > MAX_URL or _UNSAFE.search(url):
            raise EgressRefused("invalid_url", f"a URL has at most {MAX_URL} characters, no blanks and no backslash")
        try:
            split = urlsplit(url)
            return cls._of(split, split.port)
        except ValueError:
            raise EgressRefused("invalid_url", "this is no URL") from None

    @classmethod
    def _of(cls, split: SplitResult, port: int | None) -> Target:
        if split.scheme not in DEFAULT_PORT:
            raise EgressRefused("scheme_not_allowed", "only http and https are reached")
        if "@" in split.netloc:
            raise EgressRefused("userinfo_not_allowed", "a URL must not carry a name or a password")
        path = (split.path or "/") + (f"?{split.query}" if split.query else "")
        port = DEFAULT_PORT[split.scheme] if port is None else port
        return cls(split.scheme, canonical(split.hostname or ""), port, quote(path, safe=_ASCII))

    @property
    def authority(self) -> str:
        """As the Host header says it: the port only where it is not the scheme's own."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == DEFAULT_PORT[self.scheme] else f"{host}:{self.port}"

    @property
    def place(self) -> str:
        """What a permission judges: the host, and its port only where that is none of the web's."""
        return self.host if self.port in WEB_PORTS else f"{self.host}:{self.port}"

    @property
    def origin(self) -> str:
        return f"{self.scheme}://{self.authority}"

    @property
    def url(self) -> str:
        return self.origin + self.path

    def redirected(self, location: str) -> Target:
        """Where an answer sends on to. Raises `EgressRefused`: also for a step down from https to http."""
        if _UNSAFE.search(location):
            raise EgressRefused("invalid_url", "the redirect leads to what is no URL")
        try:
            there = Target.parse(urljoin(self.url, location))
        except ValueError:
            raise EgressRefused("invalid_url", "the redirect leads to what is no URL") from None
        if (self.scheme, there.scheme) == ("https", "http"):
            raise EgressRefused("redirect_not_allowed", "a redirect from https to http is not followed")
        return there


@dataclass(frozen=True, slots=True)
class HostPattern:
    """`api.example.com`, or `*.example.com` for every name below it, but not for itself; with `:8443`, that port only.

    Without a port it means 80 and 443.
    """

    name: str
    below: bool
    port: int | None

    @classmethod
    def parse(cls, text: str) -> HostPattern:
        """Raises `EgressRefused` for what could never match a public name, or would match half the world."""
        host, _, port = text.partition(":")
        name = canonical(host.removeprefix("*."))
        if "." not in name or is_address(name):
            raise EgressRefused("invalid_host_pattern", "a pattern is a public name, or *. and one of two labels")
        if ":" in text and not (re.fullmatch(r"[1-9][0-9]{0,4}", port) and int(port) < 65_536):
            raise EgressRefused("invalid_host_pattern", "after the colon stands a port")
        return cls(name, host.startswith("*."), int(port) if port else None)

    def matches(self, host: str, port: int) -> bool:
        """Whether a canonical host and a port are meant."""
        named = host.endswith(f".{self.name}") if self.below else host == self.name
        return named and (port in WEB_PORTS if self.port is None else port == self.port)

    def matches_place(self, place: str) -> bool:
        """The same of a `Target.place`."""
        host, _, port = place.partition(":")
        return self.matches(host, int(port) if port else DEFAULT_PORT["https"])


Allows = Callable[[Target], bool]
"""Whether a target whose host is a public name is one of those that may be asked."""


def any_public_name(target: Target) -> bool:
    """Every one, on the ports of the web."""
    return target.port in WEB_PORTS


def one_of(patterns: Sequence[HostPattern]) -> Allows:
    """Those that a pattern means."""
    return lambda target: any(pattern.matches(target.host, target.port) for pattern in patterns)


@dataclass(frozen=True, slots=True)
class EgressPolicy:
    """Which public names may be asked; addresses, and names that lead inside, never are.

    `loopback` lets one's own machine in under its own names, on every port: for the laptop, never for a deployment.
    """

    allows: Allows
    loopback: bool = False

    def admit(self, target: Target) -> None:
        """Raises `EgressRefused` if the target may not be asked, whatever its name resolves to."""
        if self.at_home(target):
            return
        if is_address(target.host) or "." not in target.host:
            raise EgressRefused("host_not_allowed", "only public names are reached, no addresses")
        if not self.allows(target):
            raise EgressRefused("host_not_allowed", f"{target.place} is none of the allowed hosts")

    def admit_addresses(self, target: Target, addresses: Sequence[str]) -> None:
        """Raises `EgressRefused` unless every address to which the target's name resolves may be dialled."""
        allowed = _is_loopback_address if self.at_home(target) else is_public
        if not addresses or not all(map(allowed, addresses)):
            raise EgressRefused("address_not_allowed", f"{target.host} does not resolve to public addresses only")

    def at_home(self, target: Target) -> bool:
        """Whether the target is one's own machine, and may be."""
        return self.loopback and target.host in LOOPBACK_HOSTS


def _is_loopback_address(address: str) -> bool:
    return ip_address(address).is_loopback
