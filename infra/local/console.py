"""The console at `/`, and the cookie by which its page may ask the API: it can't know a key. DESIGN section 7."""

from __future__ import annotations

import ipaddress
from pathlib import Path

from starlette.applications import Starlette
from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import HTTPConnection, Request
from starlette.responses import FileResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp, Message, Receive, Scope, Send

PAGES = Path(__file__).parents[2] / "console"
HOSTS = ("127.0.0.1", "localhost", "[::1]")
"""Under any other name the page may be a stranger's, whose name was made to lead here."""
SAFE = ("GET", "HEAD")
OWN_HEADER = "x-pawl-console"
"""A page of another origin can send it only after a preflight, and none is answered."""

PROTECTION = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'"
    ),
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-cache",
}


def with_console(api: ASGIApp, key: Path) -> ASGIApp:
    """The API with the console in front of it. `key` is the file of the key that the page's requests carry."""

    async def page(request: Request) -> Response:
        response = FileResponse(PAGES / "index.html")
        if _at_home(request.scope) and key.exists():
            name, secret = _cookie_name(request.scope), key.read_text().strip()
            response.set_cookie(name, secret, httponly=True, samesite="strict", path="/")
        return response

    pages: list[Route | Mount] = [Route("/", page), Mount("/console", StaticFiles(directory=PAGES))]
    shown = _Protected(Starlette(routes=pages))

    async def choose(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and (scope["path"] == "/" or scope["path"].startswith("/console/")):
            await shown(scope, receive, send)
        else:
            await api(_with_authority(scope), receive, send)

    return choose


class _Protected:
    """What is the page's own: nobody else's scripts, styles, frames or forms."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def protected(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(PROTECTION)
            await send(message)

        await self._app(scope, receive, protected)


def _with_authority(scope: Scope) -> Scope:
    """The request with the cookie's key as its own, if the console sent it; nobody behind sees the cookie."""
    if scope["type"] != "http":
        return scope
    headers = MutableHeaders(raw=list(scope["headers"]))
    secret = HTTPConnection(scope).cookies.get(_cookie_name(scope))
    del headers["cookie"]
    if secret and "authorization" not in headers and _at_home(scope) and _from_console(scope["method"], headers):
        headers["authorization"] = f"Bearer {secret}"
    return {**scope, "headers": headers.raw}


def _from_console(method: str, headers: Headers) -> bool:
    """SameSite knows no ports: a page of any other server on this machine could have sent the cookie as well."""
    site = headers.get("sec-fetch-site")
    if site is not None:
        return site == "same-origin" or (site == "none" and method in SAFE)
    return method in SAFE or OWN_HEADER in headers


def _at_home(scope: Scope) -> bool:
    """Whether a client on this machine asked for this machine by name, and no proxy did it for somebody else."""
    headers = Headers(scope=scope)
    host = headers.get("host", "").rpartition(":")[0] or headers.get("host", "")
    forwarded = any(name in headers for name in ("forwarded", "x-forwarded-for"))
    return host in HOSTS and not forwarded and ipaddress.ip_address(scope["client"][0]).is_loopback


def _cookie_name(scope: Scope) -> str:
    """Cookies know no ports either: two local clouds would take each other's away."""
    return f"pawl-{scope['server'][1]}"
