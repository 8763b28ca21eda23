"""Who gets the console's key, and whose requests carry it."""

from __future__ import annotations

from pathlib import Path

import anyio
import httpx
import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from infra.local.console import with_console

BASE = "http://127.0.0.1:8787"
COOKIE = {"Cookie": "theme=dark; pawl-8787=pawl_5e"}
OWN = {**COOKIE, "Sec-Fetch-Site": "same-origin"}
METHODS = ["GET", "POST", "DELETE"]


async def _echo(request: Request) -> JSONResponse:
    return JSONResponse({name: request.headers.get(name) for name in ("authorization", "cookie")})


@pytest.fixture
def key(tmp_path: Path) -> Path:
    file = tmp_path / "key"
    file.write_text("pawl_5e\n")
    return file


class Asking:
    def __init__(self, key: Path) -> None:
        self._app = with_console(Starlette(routes=[Route("/v1/runs", _echo, methods=METHODS)]), key)

    def __call__(
        self, method: str, path: str, headers: dict[str, str] | None = None, client: str = "127.0.0.1"
    ) -> httpx.Response:
        async def ask() -> httpx.Response:
            transport = httpx.ASGITransport(self._app, client=(client, 50000))
            async with httpx.AsyncClient(transport=transport, base_url=BASE) as asking:
                return await asking.request(method, path, headers=headers)

        return anyio.run(ask)


@pytest.fixture
def ask(key: Path) -> Asking:
    return Asking(key)


def authority(answer: httpx.Response) -> str | None:
    told: dict[str, str | None] = answer.json()
    assert told["cookie"] is None
    return told["authorization"]


def test_the_page_brings_the_key_where_no_script_can_read_it(ask: Asking) -> None:
    cookie = ask("GET", "/").headers["Set-Cookie"]
    assert cookie == "pawl-8787=pawl_5e; HttpOnly; Path=/; SameSite=strict"


@pytest.mark.parametrize("host", ["evil.example:8787", "127.0.0.1.evil.example:8787", "192.168.1.7:8787"])
def test_a_name_that_only_leads_here_gets_no_key(ask: Asking, host: str) -> None:
    assert "Set-Cookie" not in ask("GET", "/", {"Host": host}).headers
    assert authority(ask("GET", "/v1/runs", {**OWN, "Host": host})) is None


@pytest.mark.parametrize("host", ["localhost:8787", "[::1]:8787", "127.0.0.1"])
def test_this_machine_by_any_of_its_names_does(ask: Asking, host: str) -> None:
    assert "Set-Cookie" in ask("GET", "/", {"Host": host}).headers


@pytest.mark.parametrize("header", ["X-Forwarded-For", "Forwarded"])
def test_whoever_comes_through_a_proxy_gets_no_key(ask: Asking, header: str) -> None:
    assert "Set-Cookie" not in ask("GET", "/", {header: "for=203.0.113.9"}).headers
    assert authority(ask("GET", "/v1/runs", {**OWN, header: "for=203.0.113.9"})) is None


def test_another_machine_gets_no_key(ask: Asking) -> None:
    assert "Set-Cookie" not in ask("GET", "/", client="192.168.1.7").headers
    assert authority(ask("GET", "/v1/runs", OWN, client="192.168.1.7")) is None


def test_without_a_key_file_there_is_a_page_and_no_cookie(ask: Asking, key: Path) -> None:
    key.unlink()
    answer = ask("GET", "/")
    assert answer.status_code == 200
    assert "Set-Cookie" not in answer.headers


@pytest.mark.parametrize("method", METHODS)
def test_the_pages_own_requests_carry_the_key_and_not_the_cookie(ask: Asking, method: str) -> None:
    assert authority(ask(method, "/v1/runs", OWN)) == "Bearer pawl_5e"


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
@pytest.mark.parametrize("method", METHODS)
def test_another_page_has_no_authority_though_the_browser_sends_the_cookie(ask: Asking, method: str, site: str) -> None:
    assert authority(ask(method, "/v1/runs", {**COOKIE, "Sec-Fetch-Site": site})) is None
    assert authority(ask(method, "/v1/runs", {**COOKIE, "Sec-Fetch-Site": site, "X-Pawl-Console": "1"})) is None


def test_an_address_that_a_person_types_may_read_and_not_write(ask: Asking) -> None:
    typed = {**COOKIE, "Sec-Fetch-Site": "none"}
    assert authority(ask("GET", "/v1/runs", typed)) == "Bearer pawl_5e"
    assert authority(ask("POST", "/v1/runs", typed)) is None


def test_a_browser_that_does_not_say_where_a_request_comes_from_must_send_the_consoles_header(ask: Asking) -> None:
    assert authority(ask("GET", "/v1/runs", COOKIE)) == "Bearer pawl_5e"
    assert authority(ask("POST", "/v1/runs", COOKIE)) is None
    assert authority(ask("POST", "/v1/runs", {**COOKIE, "X-Pawl-Console": "1"})) == "Bearer pawl_5e"


def test_a_key_of_ones_own_is_left_alone(ask: Asking) -> None:
    assert authority(ask("GET", "/v1/runs", {**OWN, "Authorization": "Bearer mine"})) == "Bearer mine"
    assert authority(ask("GET", "/v1/runs", {"Authorization": "Bearer mine"})) == "Bearer mine"


def test_the_cookie_of_another_local_cloud_is_none_of_ours(ask: Asking) -> None:
    assert authority(ask("GET", "/v1/runs", {**OWN, "Cookie": "pawl-9999=pawl_5e"})) is None


@pytest.mark.parametrize("path", ["/", "/console/main.js", "/console/console.css", "/console/nothing.js"])
def test_every_answer_of_the_console_keeps_strangers_out(ask: Asking, path: str) -> None:
    headers = ask("GET", path).headers
    policy = headers["Content-Security-Policy"]
    assert policy.startswith("default-src 'none'; ")
    assert "unsafe" not in policy
    assert "frame-ancestors 'none'" in policy
    assert headers["X-Content-Type-Options"] == "nosniff"


def test_nothing_outside_the_console_is_served(ask: Asking) -> None:
    assert ask("GET", "/console/../app.py").status_code == 404
    assert ask("GET", "/console/%2e%2e/app.py").status_code == 404
