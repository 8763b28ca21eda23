"""What a request says, field by field; whatever it says wrongly is refused by name."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from typing import Any, NoReturn, Protocol

from chalicelib.core import ids
from chalicelib.core.cursor import START
from chalicelib.core.errors import InvalidInput
from chalicelib.core.fields import fields, unknown
from chalicelib.core.run import RunWebhook
from chalicelib.core.task import Task


class Request(Protocol):
    """As much of a request as is read here, whatever serves it."""

    @property
    def query_params(self) -> Mapping[str, str] | None: ...
    @property
    def headers(self) -> Mapping[str, str]: ...
    @property
    def raw_body(self) -> str | bytes: ...


_NUMBER = re.compile(r"-?[0-9]{1,1000}")
_QUOTED = re.compile(r'"((?:[^"\\]|\\["\\])*)"')
_DECLINED = re.compile(r"q=0(\.0*)?")
_DIGEST = re.compile(r"[0-9a-f]{64}")
_KEY = re.compile(r"[\x20-\x7e]{1,255}")
IN_FULL = "full"
STREAM = "stream"


def body(
    request: Request, *, required: Mapping[str, type] | None = None, optional: Mapping[str, type] | None = None
) -> dict[str, Any]:
    """The JSON object that was sent: every required field, and those optional ones that are there and not null."""
    if not request.raw_body and not required:
        return {}
    return fields(parsed(request.raw_body), "", required or {}, optional or {})


def parsed(raw: str | bytes) -> Any:
    """The JSON that was sent, in UTF-8 and nothing else: left to itself, Python would guess at UTF-16 and UTF-32."""
    try:
        text = raw if isinstance(raw, str) else raw.decode("utf-8-sig")
        value = json.loads(text, parse_constant=_refuse_constant)
        # A lone surrogate is valid JSON and no text, and 1e999 no number that we have: neither could be stored.
        json.dumps(value, ensure_ascii=False, allow_nan=False).encode()
    except (ValueError, RecursionError) as fault:
        raise InvalidInput("invalid_json", "the body is no JSON in UTF-8", expected="a JSON object in UTF-8") from fault
    return value


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is Python's, not JSON's")


def params(request: Request) -> dict[str, str]:
    """The query's parameters. Of one that is given twice, the last counts."""
    return dict(request.query_params or {})


def check_names(params: Iterable[str], known: Iterable[str]) -> None:
    """Raises `InvalidInput` for a parameter that has none of the known names. Whoever opens a door asks for this, so
    that no view can forget it."""
    for name in params:
        if name not in known:
            raise unknown(name, known)


def number(params: Mapping[str, str], name: str, default: int, low: int, high: int) -> int:
    """A whole number of the query within its range."""
    text = params.get(name, str(default))
    if _NUMBER.fullmatch(text) is None or not low <= int(text) <= high:
        expected = f"a whole number from {low} to {high}"
        raise InvalidInput(f"{name}_out_of_range", f"{text[:40]!r} is none", field=name, expected=expected)
    return int(text)


def after(params: Mapping[str, str]) -> str | None:
    """Where a page of a list begins; whether a list ever said so, its store can tell."""
    if params.get("next") == "":
        raise InvalidInput("invalid_next", "there is nothing in it", field="next", expected="the next of an answer")
    return params.get("next")


def streamed(params: Mapping[str, str], *, here: bool) -> bool:
    """Whether the answer is to be the run's stream; `here`: whether whoever asks this could answer with one."""
    text = params.get(STREAM, "false")
    if text not in (("true", "false") if here else ("false",)):
        expected = "true or false" if here else "false; true is for the streaming edge"
        raise InvalidInput("invalid_stream", f"{text[:40]!r} is not for this door", field=STREAM, expected=expected)
    return text == "true"


def since(params: Mapping[str, str]) -> int:
    """The cursor; whether it is ahead of the log, only the log can say."""
    return _cursor(params.get("since", str(START)), "since")


def last_event_id(request: Request, params: Mapping[str, str]) -> int:
    """The cursor of an SSE client: what it has received counts more than what its URL once said."""
    text = request.headers.get("last-event-id")
    return _cursor(text, "Last-Event-ID") if text else since(params)


def _cursor(text: str, field: str) -> int:
    expected = "the seq that was received last, or -1"
    if _NUMBER.fullmatch(text) is None:
        raise InvalidInput("since_not_a_number", f"{text[:40]!r} is no number", field=field, expected=expected)
    if int(text) < START:
        raise InvalidInput("since_too_low", f"{text[:40]} is below {START}", field=field, expected=expected)
    return int(text)


def in_full(params: Mapping[str, str]) -> bool:
    """Whether the client wants every event that is still there, however far behind it is."""
    if params.get("replay", IN_FULL) != IN_FULL:
        raise InvalidInput("invalid_replay", "there is no such replay", field="replay", expected=IN_FULL)
    return "replay" in params


def accepts(header: str, media_type: str) -> bool:
    """Whether an Accept header names the media type, and does not decline it."""
    for each in header.lower().split(","):
        name, *parameters = (part.strip() for part in each.split(";"))
        if name == media_type:
            return not any(_DECLINED.fullmatch(parameter) for parameter in parameters)
    return False


def task(request: Request) -> Task:
    """The task that was sent."""
    optional = {"metadata": dict, "budget": dict, "permissions": list, "webhook": dict, "files": list}
    asked = body(request, required={"agent": str, "text": str}, optional=optional)
    budget: dict[str, Any] = fields(asked.pop("budget", {}), "budget.", {}, {"steps": int, "seconds": int})
    if "webhook" in asked:
        named = fields(asked["webhook"], "webhook.", {"url": str, "signed_by": str}, {})
        asked["webhook"] = RunWebhook(**named)
    return Task(**asked, **budget)


def run_id(text: str) -> str:
    """A run id, by its form."""
    if not ids.is_run_id(text):
        detail = "this is no run id"
        raise InvalidInput("invalid_run_id", detail, field="run_id", expected="run_ and 26 letters or digits")
    return text


def digest(text: str) -> str:
    """A payload's digest, by its form."""
    if _DIGEST.fullmatch(text) is None:
        detail = "this is no digest"
        raise InvalidInput("invalid_digest", detail, field="digest", expected="64 lowercase hexadecimal digits")
    return text


def idempotency_key(request: Request) -> str | None:
    """The Idempotency-Key, bare or as the quoted string of its draft standard; both are the same key."""
    header: str | None = request.headers.get("idempotency-key")
    if header is None:
        return None
    key = header.strip()
    if key.startswith('"'):
        quoted = _QUOTED.fullmatch(key)
        key = re.sub(r"\\(.)", r"\1", quoted[1]) if quoted else ""
    if _KEY.fullmatch(key) is None:
        raise InvalidInput(
            "invalid_idempotency_key",
            "the key is empty, too long or not printable",
            field="Idempotency-Key",
            expected="1 to 255 printable ASCII characters",
        )
    return key
