"""A file goes in through S3's own door, into a run, and out again: real requests on a real socket."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from chalicelib import bootstrap
from tests.stories.conftest import Town, a_town, with_scripts

CSV = b"week,crowns\n1,1210\n"
ASKED = {"name": "takings.csv", "media_type": "text/csv", "size": len(CSV)}


@pytest.fixture(scope="module")
def place() -> Iterator[Town]:
    with a_town({}) as town:
        with_scripts()
        yield town


def announced(place: Town) -> dict[str, Any]:
    answer = place.http.post("/v1/files", json=ASKED)
    assert answer.status_code == 201, answer.text
    made: dict[str, Any] = answer.json()
    return made


def put(form: dict[str, Any], body: bytes = CSV, **changed: str) -> httpx.Response:
    """As a browser or curl would, without a key."""
    fields = {**form["fields"], **changed}
    return httpx.post(form["url"], data=fields, files={"file": ("whatever", body)}, trust_env=False)


def state(place: Town, file_id: str) -> str:
    return str(place.http.get(f"/v1/files/{file_id}").json()["state"])


def test_a_file_is_put_given_to_a_run_and_downloaded_from_it(place: Town) -> None:
    made = announced(place)
    assert state(place, made["file_id"]) == "awaiting_upload"

    assert put(made["upload"]).status_code == 204
    assert state(place, made["file_id"]) == "there"
    task = {"agent": "brief", "text": "go", "files": [made["file_id"]]}
    run_id = place.http.post("/v1/runs", json=task).json()["run_id"]
    assert place.http.delete(f"/v1/files/{made['file_id']}").status_code == 204

    link = place.http.get(f"/v1/runs/{run_id}/files/{made['file_id']}")
    assert link.status_code == 303
    download = httpx.get(link.headers["Location"], trust_env=False)
    assert download.content == CSV
    assert download.headers["Content-Type"] == "text/csv"
    assert download.headers["Content-Disposition"] == "attachment; filename*=UTF-8''takings.csv"
    assert bootstrap.world().files.read(run_id, made["file_id"]) == CSV
    assert place.http.get(f"/v1/runs/{run_id}/files/{made['file_id']}", follow_redirects=True).content == CSV


@pytest.mark.parametrize(
    ("body", "changed", "code"),
    [
        (CSV + b"x", {}, "EntityTooLarge"),
        (CSV[:-1], {}, "EntityTooSmall"),
        (CSV, {"Content-Type": "text/html"}, "AccessDenied"),
        (CSV, {"key": "files/globex/file_1"}, "AccessDenied"),
        (CSV, {"key": "run-files/run_1/file_1"}, "AccessDenied"),
        (CSV, {"acl": "public-read"}, "AccessDenied"),
        (CSV, {"policy": ""}, "AccessDenied"),
        (CSV, {"policy": "e30="}, "AccessDenied"),
        (CSV, {"x-amz-signature": "0" * 64}, "SignatureDoesNotMatch"),
    ],
)
def test_nothing_is_put_but_what_was_announced(place: Town, body: bytes, changed: dict[str, str], code: str) -> None:
    made = announced(place)

    refused = put(made["upload"], body, **changed)

    assert refused.status_code in (400, 403)
    assert f"<Code>{code}</Code>" in refused.text
    assert state(place, made["file_id"]) == "awaiting_upload"


def test_a_form_leads_to_no_other_bucket(place: Town) -> None:
    form = announced(place)["upload"]

    refused = put({**form, "url": form["url"] + "-other"})

    assert "<Code>AccessDenied</Code>" in refused.text


def test_a_form_without_a_file_is_no_crash(place: Town) -> None:
    form = announced(place)["upload"]

    refused = httpx.post(form["url"], data=form["fields"], trust_env=False)

    assert (refused.status_code, "<Code>InvalidArgument</Code>" in refused.text) == (400, True)


def linked(place: Town) -> str:
    run_id = place.submit("brief")
    file = bootstrap.world().files.keep(run_id, "acme", "plot.png", b"png", "image/png")
    return str(place.http.get(f"/v1/runs/{run_id}/files/{file.file_id}").headers["Location"])


@pytest.mark.parametrize(
    ("was", "becomes", "code"),
    [
        ("X-Amz-Signature=", "X-Amz-Signature=0", "SignatureDoesNotMatch"),
        ("image%2Fpng", "text%2Fhtml", "SignatureDoesNotMatch"),
        ("attachment", "inline", "SignatureDoesNotMatch"),
        ("X-Amz-Expires=300", "X-Amz-Expires=3000", "SignatureDoesNotMatch"),
        ("/run-files/", "/files/", "SignatureDoesNotMatch"),
        ("X-Amz-Date=", "X-Amz-Day=", "AccessDenied"),
    ],
)
def test_a_link_leads_to_that_file_as_a_download_and_nowhere_else(
    place: Town, was: str, becomes: str, code: str
) -> None:
    link = linked(place)
    assert httpx.get(link, trust_env=False).content == b"png"

    assert was in link
    refused = httpx.get(link.replace(was, becomes), trust_env=False)

    assert (refused.status_code, f"<Code>{code}</Code>" in refused.text) == (403, True)
