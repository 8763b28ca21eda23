"""Files: announce one, look, delete; and the way to those of a run. The bytes themselves pass between caller and S3."""

from __future__ import annotations

from typing import Any

from chalice.app import Request, Response

from chalicelib import bootstrap
from chalicelib.core.files import UPLOAD_WITHIN
from chalicelib.handlers import http_input, http_shapes
from chalicelib.handlers.authorizer import Caller
from chalicelib.usecases.begin_upload import begin_upload
from chalicelib.usecases.delete_upload import delete_upload
from chalicelib.usecases.link_file import link_file
from chalicelib.usecases.read_upload import read_upload


def post_file(request: Request, caller: Caller) -> Response:
    world = bootstrap.world()
    asked: dict[str, Any] = http_input.body(request, required={"name": str, "media_type": str, "size": int})
    upload, form = begin_upload(
        **asked, account_id=caller.account_id, uploads=world.uploads, clock=world.clock, chance=world.chance
    )
    until = http_shapes.at(upload.created_at + UPLOAD_WITHIN)
    way = {"method": "POST", "url": form.url, "fields": dict(form.fields), "expires_at": until}
    headers = {"Location": f"/v1/files/{upload.file.file_id}"}
    return Response({**http_shapes.upload(upload, is_there=False), "upload": way}, {**headers}, 201)


def get_file(request: Request, caller: Caller, file_id: str) -> Response:
    world = bootstrap.world()
    found = read_upload(file_id, account_id=caller.account_id, uploads=world.uploads, clock=world.clock)
    return Response(http_shapes.upload(found[0], is_there=found[1]))


def delete_file(request: Request, caller: Caller, file_id: str) -> Response:
    world = bootstrap.world()
    delete_upload(file_id, account_id=caller.account_id, uploads=world.uploads, clock=world.clock)
    return Response("", status_code=204)


def get_run_file(request: Request, caller: Caller, run_id: str, file_id: str) -> Response:
    world = bootstrap.world()
    run_id, account_id = http_input.run_id(run_id), caller.account_id
    url = link_file(run_id, file_id, account_id=account_id, runs=world.runs, files=world.files)
    return Response({"url": url}, {"Location": url, "Cache-Control": "no-store"}, 303)
