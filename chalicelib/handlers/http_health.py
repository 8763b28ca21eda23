"""What needs no key: that the API answers, and the document that describes it."""

from __future__ import annotations

from pathlib import Path

from chalice.app import Request, Response

OPENAPI = Path(__file__).with_name("openapi.yaml")


def get_health(request: Request) -> Response:
    """That the API answers, and nothing more: it is asked often, and costs no read."""
    return Response({"status": "ok"})


def get_openapi(request: Request) -> Response:
    return Response(OPENAPI.read_text(encoding="utf-8"), {"Content-Type": "application/yaml"})
