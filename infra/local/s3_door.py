"""S3 as callers from outside reach it: forms that are put, and links that are followed. Nothing else is answered.

moto's S3 is in this process and has no door. What it keeps is what comes through here, or what our Lambdas put.
"""

from __future__ import annotations

import socket
from datetime import UTC, datetime
from typing import Any
from xml.sax.saxutils import escape

import anyio
import boto3
from botocore.credentials import Credentials
from botocore.exceptions import ClientError
from starlette.applications import Starlette
from starlette.datastructures import UploadFile
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from infra.local.s3_signature import Denied, check_form, check_link
from infra.local.stack import REGION

PREFIX = "/s3"

ANSWERED = {"response-content-type": "content-type", "response-content-disposition": "content-disposition"}


def settings(listener: socket.socket) -> dict[str, str]:
    """What tells the functions of the endpoint, which is on the gateway's own socket."""
    host, port = listener.getsockname()
    return {"PAWL_S3_URL": f"http://{host}:{port}{PREFIX}"}


def with_s3(api: ASGIApp) -> ASGIApp:
    """The API, with S3 under its prefix."""
    door = Starlette(
        routes=[
            Route(f"{PREFIX}/{{bucket}}", _put, methods=["POST"]),
            Route(f"{PREFIX}/{{bucket}}/{{key:path}}", _get, methods=["GET"]),
        ]
    )

    async def choose(scope: Scope, receive: Receive, send: Send) -> None:
        ours = scope["type"] == "http" and scope["path"].startswith(f"{PREFIX}/")
        await (door if ours else api)(scope, receive, send)

    return choose


async def _put(request: Request) -> Response:
    async with request.form(max_files=1) as form:
        file = form.get("file")
        fields = {name: value for name, value in form.items() if isinstance(value, str)}
        if not isinstance(file, UploadFile):
            return _denied(Denied("InvalidArgument", "POST requires exactly one file upload per request.", 400))
        body = await file.read()
    bucket = request.path_params["bucket"]
    try:
        check_form(fields, bucket, len(body), _credentials(), REGION, _now())
    except Denied as denied:
        return _denied(denied)
    given = {name.lower(): value for name, value in fields.items()}
    put = {"Bucket": bucket, "Key": given["key"], "Body": body, "ContentType": given["content-type"]}
    await anyio.to_thread.run_sync(lambda: _client().put_object(**put))
    return Response(status_code=204)


async def _get(request: Request) -> Response:
    bucket, key = request.path_params["bucket"], request.path_params["key"]
    try:
        check_link(str(request.url), _credentials(), REGION, _now())
        body = await anyio.to_thread.run_sync(lambda: _read(bucket, key))
    except Denied as denied:
        return _denied(denied)
    wanted = {header: request.query_params[name] for name, header in ANSWERED.items() if name in request.query_params}
    return Response(body, headers=wanted)


def _read(bucket: str, key: str) -> bytes:
    try:
        return bytes(_client().get_object(Bucket=bucket, Key=key)["Body"].read())
    except ClientError as fault:
        raise Denied(fault.response["Error"]["Code"], "The specified key does not exist.", 404) from fault


def _now() -> datetime:
    """By the machine's clock, by which botocore signs, whatever the local cloud's says."""
    return datetime.now(UTC)


def _client() -> Any:
    return boto3.client("s3", region_name=REGION)


def _credentials() -> Credentials:
    """What the Lambdas sign with."""
    found = boto3.Session().get_credentials()
    assert found is not None, "moto has some for everybody"
    return found


def _denied(denied: Denied) -> Response:
    body = f"<Error><Code>{escape(denied.code)}</Code><Message>{escape(denied.message)}</Message></Error>"
    return Response(body, denied.status, media_type="application/xml")
