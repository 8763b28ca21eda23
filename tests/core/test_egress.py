"""Where the runtime may go: names, patterns, addresses, redirects."""

from __future__ import annotations

import pytest

from chalicelib.core.egress import EgressPolicy, HostPattern, Target, any_public_name, canonical, is_public, one_of
from chalicelib.core.errors import EgressRefused


def _allowed(pattern: str, url: str) -> bool:
    try:
        EgressPolicy(one_of([HostPattern.parse(pattern)])).admit(Target.parse(url))
    except EgressRefused:
        return False
    return True


@pytest.mark.parametrize(
    ("pattern", "url"),
    [
        ("api.example.com", "https://api.example.com/"),
        ("api.example.com", "http://api.example.com"),
        ("API.Example.com.", "https://api.EXAMPLE.com./x?y#z"),
        ("api.example.com", "https://api.example.com:80/"),
        ("*.example.com", "https://a.example.com/"),
        ("*.example.com", "https://a.b.example.com/"),
        ("bücher.example", "https://xn--bcher-kva.example/"),
        ("xn--bcher-kva.example", "https://BÜCHER.example/"),
        ("api.example.com", "https://api。example。com/"),
        ("api.example.com:8443", "https://api.example.com:8443/"),
    ],
)
def test_a_pattern_means_its_host_in_every_spelling(pattern: str, url: str) -> None:
    assert _allowed(pattern, url)


@pytest.mark.parametrize(
    ("pattern", "url"),
    [
        ("api.example.com", "https://example.com/"),
        ("api.example.com", "https://x.api.example.com/"),
        ("api.example.com", "https://api.example.com.evil.net/"),
        ("api.example.com", "https://api.example.com:8443/"),
        ("api.example.com:8443", "https://api.example.com/"),
        ("*.example.com", "https://example.com/"),
        ("*.example.com", "https://evilexample.com/"),
        ("*.example.com", "https://a.example.com.evil.net/"),
        ("api.example.com", "https://аpi.example.com/"),  # noqa: RUF001 - the first letter is Cyrillic
    ],
)
def test_a_pattern_means_nothing_else(pattern: str, url: str) -> None:
    assert not _allowed(pattern, url)


UNMEANT = """
    * *. *.com com localhost a.*.com **.a.com 127.0.0.1 ::1 0x7f.1 -.com a..com a.com: a.com:0 a.com:70000 a.com:http
    a.com/x u@a.com http://a.com
"""


@pytest.mark.parametrize(
    ("pattern", "url", "meant"),
    [
        ("*.example.com", "https://a.example.com/", True),
        ("*.example.com", "http://a.example.com/", True),
        ("*.example.com", "https://a.example.com:8443/", False),
        ("*.example.com:8443", "https://a.example.com:8443/", True),
        ("*.example.com:8443", "https://a.example.com/", False),
    ],
)
def test_a_permission_judges_the_place_as_the_wire_does(pattern: str, url: str, meant: bool) -> None:
    assert HostPattern.parse(pattern).matches_place(Target.parse(url).place) is meant
    assert _allowed(pattern, url) is meant


@pytest.mark.parametrize("text", [*UNMEANT.split(), "", "a b.com", "x" * 300])
def test_a_pattern_that_could_not_be_meant_is_refused(text: str) -> None:
    with pytest.raises(EgressRefused):
        HostPattern.parse(text)


@pytest.mark.parametrize(
    ("url", "code"),
    [
        ("ftp://a.example.com/", "scheme_not_allowed"),
        ("file:///etc/passwd", "scheme_not_allowed"),
        ("gopher://a.example.com/", "scheme_not_allowed"),
        ("a.example.com", "scheme_not_allowed"),
        ("https://user@a.example.com/", "userinfo_not_allowed"),
        ("https://a.example.com@127.0.0.1/", "userinfo_not_allowed"),
        ("https://a.example.com\\@127.0.0.1/", "invalid_url"),
        ("https://a.exam\nple.com/", "invalid_url"),
        ("https://a.example.com/\r\nX: y", "invalid_url"),
        (" https://a.example.com/", "invalid_url"),
        ("https://a.example.com:99999/", "invalid_url"),
        ("https://[::1/", "invalid_url"),
        ("https:///x", "invalid_host"),
        ("https://a%2eexample.com/", "invalid_host"),
        ("https://[fe80::1%25eth0]/", "invalid_host"),
        ("https://a.example.com/" + "x" * 2_048, "invalid_url"),
    ],
)
def test_what_is_no_plain_url_is_refused_by_name(url: str, code: str) -> None:
    with pytest.raises(EgressRefused) as refused:
        Target.parse(url)

    assert refused.value.code == code


def test_a_url_is_sent_as_it_was_read() -> None:
    target = Target.parse("HTTPS://Bücher.example:443/a b".replace(" ", "ä") + "?q=%20ö&x#part")

    assert target.url == "https://xn--bcher-kva.example/a%C3%A4b?q=%20%C3%B6&x"


INSIDE = """
    127.0.0.1 0.0.0.0 10.1.2.3 172.16.0.1 192.168.1.1 169.254.169.254 100.64.0.1 224.0.0.1 192.0.0.8 192.88.99.1
    168.63.129.16 198.18.0.1 203.0.113.1 240.0.0.1 255.255.255.255
    :: ::1 fe80::1 fe80::1%eth0 fc00::1 fd00:ec2::254 fec0::1 ff02::1 2001:db8::1 4000::1
    ::ffff:127.0.0.1 ::ffff:169.254.169.254 ::7f00:1 64:ff9b::7f00:1 64:ff9b:1::7f00:1 2002:7f00:1:: 2001:0:7f00:1::
    localhost 127.1
"""


@pytest.mark.parametrize("address", [*INSIDE.split(), ""])
def test_an_inside_address_is_not_public(address: str) -> None:
    assert not is_public(address)


@pytest.mark.parametrize("address", ["93.184.216.34", "1.1.1.1", "::ffff:1.1.1.1", "2606:2800:220:1::1"])
def test_a_public_address_is(address: str) -> None:
    assert is_public(address)


@pytest.mark.parametrize("found", [[], ["10.0.0.1"], ["93.184.216.34", "10.0.0.1"], ["::ffff:10.0.0.1"]])
def test_one_inside_answer_refuses_a_name(found: list[str]) -> None:
    with pytest.raises(EgressRefused, match="public addresses only"):
        EgressPolicy(any_public_name).admit_addresses(Target.parse("https://a.example.com/"), found)


@pytest.mark.parametrize("url", ["http://localhost/", "http://127.0.0.1:8000/", "http://[::1]/", "https://intranet/"])
def test_any_public_name_means_no_address_and_no_short_name(url: str) -> None:
    with pytest.raises(EgressRefused):
        EgressPolicy(any_public_name).admit(Target.parse(url))


def test_a_laptop_lets_its_own_machine_in_and_nothing_else_inside() -> None:
    laptop = EgressPolicy(any_public_name, loopback=True)
    at_home = Target.parse("http://127.0.0.1:8000/hook")

    laptop.admit(at_home)
    laptop.admit_addresses(at_home, ["127.0.0.1"])

    with pytest.raises(EgressRefused):
        laptop.admit_addresses(Target.parse("http://localhost/"), ["127.0.0.1", "10.0.0.1"])
    with pytest.raises(EgressRefused):
        laptop.admit(Target.parse("http://10.0.0.1/"))
    with pytest.raises(EgressRefused):
        laptop.admit_addresses(Target.parse("https://a.example.com/"), ["127.0.0.1"])


@pytest.mark.parametrize(
    ("location", "url"),
    [
        ("/b?c", "https://a.example.com/b?c"),
        ("b", "https://a.example.com/x/b"),
        ("//b.example.com/", "https://b.example.com/"),
        ("https://B.example.com:444/", "https://b.example.com:444/"),
    ],
)
def test_a_redirect_leads_where_it_says(location: str, url: str) -> None:
    assert Target.parse("https://a.example.com/x/y").redirected(location).url == url


@pytest.mark.parametrize(
    "location", ["http://a.example.com/", "ftp://a.example.com/", "https://u:p@a.example.com/", "https://[", "a b"]
)
def test_a_redirect_leads_nowhere_else(location: str) -> None:
    with pytest.raises(EgressRefused):
        Target.parse("https://a.example.com/").redirected(location)


def test_the_same_host_is_spelled_once() -> None:
    assert {canonical(host) for host in ("Straße.example", "strasse.example.", "STRASSE.EXAMPLE")} == {
        "strasse.example"
    }
