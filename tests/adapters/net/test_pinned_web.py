"""HTTP that goes only where it may, on real sockets: what it follows, when it stops, and what it never sends."""

from __future__ import annotations

import gzip
import ssl
import threading
import tracemalloc
from collections.abc import Iterator, Mapping, Sequence
from itertools import repeat
from pathlib import Path

import pytest

from chalicelib.adapters.net.pinned_web import MAX_BODY, PinnedWeb
from chalicelib.core.egress import EgressPolicy, HostPattern, any_public_name, one_of
from chalicelib.core.errors import EgressFailed, EgressRefused
from chalicelib.ports.web import WebRequest
from tests.adapters.net.website import PUBLIC, Asked, Network, Said, Website, serving
from tests.certificate import certificate_of

TEXT = {"Content-Type": "text/plain"}


def _policy(*ports: int, name: str = "*.example.com") -> EgressPolicy:
    return EgressPolicy(one_of([HostPattern.parse(f"{name}:{port}") for port in ports]))


def _get(site: Website, path: str = "/", host: str = "a.example.com", **more: object) -> WebRequest:
    return WebRequest("GET", f"http://{host}:{site.port}{path}", **more)  # type: ignore[arg-type]


def _to(location: str) -> Said:
    return Said(302, {"Location": location})


def test_an_approved_host_is_asked_at_the_address_that_was_checked() -> None:
    network = Network({"a.example.com": [[PUBLIC]]})
    with serving() as site:
        answer = network.web().ask(_get(site, "/x?y"), _policy(site.port))

    assert (answer.status, answer.body, answer.cut) == (200, b"hello", False)
    assert (site.asked[0].path, site.asked[0].headers["host"]) == ("/x?y", f"a.example.com:{site.port}")
    assert (network.resolved, network.dialled) == (["a.example.com"], [PUBLIC])


def test_the_next_address_is_dialled_where_the_first_one_does_not_answer() -> None:
    deaf = "93.184.216.35"
    network = Network({"a.example.com": [[deaf, PUBLIC]]})
    network.deaf.add(deaf)
    with serving() as site:
        assert network.web().ask(_get(site), _policy(site.port)).status == 200

    assert network.dialled == [deaf, PUBLIC]


def test_a_certificate_must_be_the_hosts_not_the_addresss(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    certificate = certificate_of(tmp_path, "a.example.com")
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(certificate)
    network = Network({"a.example.com": [[PUBLIC]], "b.example.com": [[PUBLIC]]})
    with serving(tls=tls) as site:
        web, policy = network.web(), _policy(site.port)

        assert web.ask(WebRequest("GET", f"https://a.example.com:{site.port}/"), policy).body == b"hello"
        with pytest.raises(EgressFailed, match="SSLCertVerificationError"):
            web.ask(WebRequest("GET", f"https://b.example.com:{site.port}/"), policy)

    assert [asked.headers["host"] for asked in site.asked] == [f"a.example.com:{site.port}"]


def test_no_proxy_of_the_environment_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    with serving() as proxy, serving() as site:
        for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
            monkeypatch.setenv(name, f"http://127.0.0.1:{proxy.port}")

        Network({"a.example.com": [[PUBLIC]]}).web().ask(_get(site), _policy(site.port))

    assert (proxy.dialled, len(site.asked)) == (0, 1)


def test_a_cookie_is_not_kept_and_a_redirect_is_judged_like_a_first_request() -> None:
    def answers(asked: Asked) -> Said:
        return Said(302, {"Location": "/there", "Set-Cookie": "a=b"}) if asked.path == "/" else Said()

    network = Network({"a.example.com": [[PUBLIC]]})
    with serving(answers) as site:
        answer = network.web().ask(_get(site, redirects=3), _policy(site.port))

    assert (answer.url, answer.body) == (f"http://a.example.com:{site.port}/there", b"hello")
    assert network.resolved == ["a.example.com"] * 2
    assert "cookie" not in site.asked[1].headers


@pytest.mark.parametrize(("host", "kept"), [("a.example.com", True), ("b.example.com", False)])
def test_credentials_stay_with_their_host(host: str, kept: bool) -> None:
    def answers(asked: Asked) -> Said:
        return _to(f"http://{host}:{site.port}/there") if asked.path == "/" else Said()

    network = Network({"a.example.com": [[PUBLIC]], "b.example.com": [[PUBLIC]]})
    headers = {"Authorization": "Bearer secret", "Cookie": "c=d", "Accept": "text/plain"}
    with serving(answers) as site:
        network.web().ask(_get(site, headers=headers, redirects=3), _policy(site.port))

    there = site.asked[1].headers
    assert (("authorization" in there, "cookie" in there), there["accept"]) == ((kept, kept), "text/plain")


@pytest.mark.parametrize(("hops", "followed"), [(3, True), (4, False)])
def test_three_redirects_are_followed_and_no_fourth(hops: int, followed: bool) -> None:
    def answers(asked: Asked) -> Said:
        left = int(asked.path[1:])
        return _to(f"/{left - 1}") if left else Said()

    with serving(answers) as site:
        web = Network({"a.example.com": [[PUBLIC]]}).web()
        if followed:
            assert web.ask(_get(site, f"/{hops}", redirects=3), _policy(site.port)).body == b"hello"
        else:
            with pytest.raises(EgressFailed, match="more than 3 redirects"):
                web.ask(_get(site, f"/{hops}", redirects=3), _policy(site.port))

    assert len(site.asked) == 4


def test_who_follows_none_gets_the_redirect_itself() -> None:
    with serving(lambda asked: _to("http://127.0.0.1/")) as site:
        answer = Network({"a.example.com": [[PUBLIC]]}).web().ask(_get(site), _policy(site.port))

    assert answer.status == 302


def _dripping() -> Iterator[bytes]:
    for byte in repeat(b"x"):
        threading.Event().wait(0.02)
        yield byte


@pytest.mark.parametrize(
    "said",
    [
        Said(body=_dripping),
        Said(headers={**TEXT, "Content-Length": "1000000"}, body=_dripping),
        Said(headers={**TEXT, "Transfer-Encoding": "chunked"}, body=_dripping),
        Said(headers={**TEXT, "Content-Length": "10"}, body=lambda: iter(())),
    ],
    ids=["without a length", "with a length", "a size of a chunk without an end", "nothing comes"],
)
def test_f19_a_body_that_never_ends_trips_the_deadline(said: Said) -> None:
    with serving(lambda asked: said) as site, pytest.raises(EgressFailed) as failed:
        Network({"a.example.com": [[PUBLIC]]}).web().ask(_get(site, seconds=0.3), _policy(site.port))

    assert failed.value.code in ("no_answer_in_time", "no_answer")


def test_a_name_that_is_not_resolved_in_time_trips_it_too(monkeypatch: pytest.MonkeyPatch) -> None:
    asked_long_enough = threading.Event()
    monkeypatch.setattr("socket.getaddrinfo", lambda *_, **__: (asked_long_enough.wait(10), [])[1])

    with pytest.raises(EgressFailed) as failed:
        PinnedWeb().ask(WebRequest("GET", "http://a.example.com/", seconds=0.2), EgressPolicy(any_public_name))
    asked_long_enough.set()

    assert failed.value.code == "no_answer_in_time"


def _gzipped(size: int, layers: int = 1) -> bytes:
    packed = b"\0" * size
    for _ in range(layers):
        packed = gzip.compress(packed, 9)
    return packed


def test_a_body_that_is_too_long_is_cut() -> None:
    with serving(lambda asked: Said(body=lambda: repeat(b"x" * 65_536))) as site:
        answer = Network({"a.example.com": [[PUBLIC]]}).web().ask(_get(site), _policy(site.port))

    assert (len(answer.body), answer.cut) == (MAX_BODY, True)


def test_f19_a_body_that_unpacks_to_gigabytes_is_cut_before_it_is_unpacked() -> None:
    chunk = _gzipped(64 * 1024 * 1024)
    packed = Said(headers={**TEXT, "Content-Encoding": "gzip"}, body=lambda: iter([chunk] * 32))
    with serving(lambda asked: packed) as site:
        web = Network({"a.example.com": [[PUBLIC]]}).web()
        tracemalloc.start()
        answer = web.ask(_get(site), _policy(site.port))
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()

    assert (len(answer.body), answer.cut) == (MAX_BODY, True)
    assert peak < 16 * 1024 * 1024


@pytest.mark.parametrize("encoding", ["br", "zstd", "gzip, gzip", "x"])
def test_an_encoding_that_was_not_asked_for_is_not_read(encoding: str) -> None:
    web = Network({"a.example.com": [[PUBLIC]]}).web()
    with (
        serving(lambda asked: Said(headers={**TEXT, "Content-Encoding": encoding})) as site,
        pytest.raises(EgressFailed) as failed,
    ):
        web.ask(_get(site), _policy(site.port))

    assert failed.value.code == "body_not_readable"


def test_a_body_that_is_not_encoded_as_it_says_is_no_answer() -> None:
    web = Network({"a.example.com": [[PUBLIC]]}).web()
    with (
        serving(lambda asked: Said(headers={**TEXT, "Content-Encoding": "gzip"})) as site,
        pytest.raises(EgressFailed) as failed,
    ):
        web.ask(_get(site), _policy(site.port))

    assert failed.value.code == "body_not_readable"


def test_a_host_that_hangs_up_is_no_answer() -> None:
    with serving() as site:
        port = site.port
    web = Network({"a.example.com": [[PUBLIC]]}).web()
    with pytest.raises(EgressFailed) as failed:
        web.ask(WebRequest("GET", f"http://a.example.com:{port}/"), _policy(port))

    assert failed.value.code == "no_answer"


NAMES: Mapping[str, Sequence[Sequence[str]]] = {
    "inside.example.com": [["127.0.0.1"]],
    "inside6.example.com": [["::1"]],
    "mixed.example.com": [[PUBLIC, "127.0.0.1"]],
    "mixed-first.example.com": [["127.0.0.1", PUBLIC]],
    "mapped.example.com": [["::ffff:127.0.0.1"]],
    "metadata.example.com": [["169.254.169.254"]],
    "nat64.example.com": [["64:ff9b::7f00:1"]],
    "nowhere.example.com": [[]],
    "rebinding.example.com": [[PUBLIC], ["127.0.0.1"]],
    "a.example.com": [[PUBLIC]],
}
"""Rebinding: public when it is first asked for, inside afterwards."""

SPELLINGS = """
    127.0.0.1 127.1 127.0.1 2130706433 0x7f000001 0x7f.0.0.1 0177.0.0.1 017700000001 0x7f.1 127.0.0.1. 0 0.0.0.0
    [::1] [::] [0:0:0:0:0:0:0:1] [::ffff:127.0.0.1] [::ffff:7f00:1] [::7f00:1] [64:ff9b::7f00:1]
    １２７.0.0.1 127。0。0。1 ①②⑦.0.0.1 localhost LOCALHOST localhost. ip6-localhost localhost.localdomain
"""  # noqa: RUF001 - digits and dots that fold to ASCII

REFUSED = (
    *(f"http://{spelling}:{{port}}/" for spelling in SPELLINGS.split()),
    *(f"http://{name}:{{port}}/" for name in NAMES if name not in ("a.example.com", "rebinding.example.com")),
    "http://a.example.com@127.0.0.1:{port}/",
    "http://127.0.0.1:{port}@a.example.com/",
    "http://user:pass@a.example.com:{port}/",
    "http://a.example.com:{port}\\@127.0.0.1/",
    "http://127.0.0.1:{port}\\.example.com/",
    "http://127.0.0.1:{port}#.example.com/",
    "http://127.0.0.1:{port}?.example.com/",
    "http://evil-example.com:{port}/",
    "http://a.example.com.evil.net:{port}/",
    "http://example.com:{port}/",
    "http://а.example.net:{port}/",  # noqa: RUF001 - Cyrillic
    "http://a.example.com:22/",
    "http://a.example.com:{port}0/",
    "https://a.example.com:9001/",
    "ftp://a.example.com:{port}/",
    "file:///etc/passwd",
    "gopher://a.example.com:{port}/",
    "unix:///var/run/docker.sock",
    "//a.example.com:{port}/",
)


@pytest.mark.parametrize("url", REFUSED)
@pytest.mark.parametrize("way", ["at once", "by a redirect"])
def test_f19_no_spelling_of_the_inside_is_reached(url: str, way: str) -> None:
    """The canary listens on 127.0.0.1, at the very port: nothing but the policy stands before it."""
    with serving() as canary, serving(lambda asked: _to(there)) as site:
        there = url.format(port=canary.port)
        first = there if way == "at once" else f"http://a.example.com:{site.port}/"
        if way == "by a redirect" and there.startswith("//"):
            there = f"//127.0.0.1:{canary.port}/"
        with pytest.raises(EgressRefused):
            Network(NAMES).web().ask(WebRequest("GET", first, redirects=3), _policy(canary.port, site.port))

    assert canary.dialled == 0
    assert site.dialled == (way == "by a redirect")


@pytest.mark.parametrize("spelling", SPELLINGS.split())
def test_any_public_name_lets_no_spelling_of_the_inside_in(spelling: str) -> None:
    with serving() as canary, pytest.raises(EgressRefused):
        PinnedWeb().ask(WebRequest("GET", f"http://{spelling}:{canary.port}/"), EgressPolicy(any_public_name))

    assert canary.dialled == 0


def test_f19_a_name_that_is_rebound_between_judging_and_dialling_leads_nowhere_else() -> None:
    """It is resolved once a request; when a redirect makes it resolve again, it is judged again."""
    network = Network(NAMES)
    with serving(lambda asked: _to("/again")) as site:
        request = WebRequest("GET", f"http://rebinding.example.com:{site.port}/", redirects=3)
        with pytest.raises(EgressRefused, match="public addresses only"):
            network.web().ask(request, _policy(site.port))

    assert network.dialled == [PUBLIC]


def test_the_canary_sings_where_the_policy_lets_it() -> None:
    """The control: the same client reaches the same server as soon as its own machine is allowed."""
    with serving() as canary:
        for host in ("127.0.0.1", "localhost"):
            request = WebRequest("GET", f"http://{host}:{canary.port}/")
            assert PinnedWeb().ask(request, EgressPolicy(any_public_name, loopback=True)).body == b"hello"

    assert canary.dialled == 2
