"""What a provider's errors mean: worth another try, or not. Its words are kept, shortened, and never with the key."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from chalicelib.core.errors import ModelFault, ModelRefused, ModelUnavailable

LONGEST_MESSAGE = 500

_WORTH_ANOTHER_TRY = frozenset({408, 409, 429})
_REFUSES = re.compile(r"invalid|authentication|permission|not_found|context_length|content_policy|unsupported")
_SECONDS = re.compile(r"\d{1,6}(\.\d+)?")


def of_status(status: int, content: str, retry_after: str | None, key: str | None) -> ModelFault:
    """What an answer without a stream means. A Retry-After that is a date says nothing to us."""
    said = f"the provider answered {status}: {_shown(_message(_error(content)), key)}"
    if status in _WORTH_ANOTHER_TRY or status >= 500:
        return ModelUnavailable(said, float(retry_after) if retry_after and _SECONDS.fullmatch(retry_after) else None)
    return ModelRefused(said)


def in_stream(error: object, key: str | None) -> ModelFault:
    """What an error in place of a chunk means: by its status if its code is one, otherwise by its code and type."""
    said = f"the provider broke the stream off: {_shown(_message(error), key)}"
    named = error if isinstance(error, dict) else {}
    code = str(named.get("code") or "")
    if re.fullmatch(r"\d{3}", code):
        again = int(code) in _WORTH_ANOTHER_TRY or int(code) >= 500
    else:
        again = not _REFUSES.search(f"{code} {named.get('type')}")
    return ModelUnavailable(said) if again else ModelRefused(said)


def _error(content: str) -> object:
    try:
        told: Any = json.loads(content)
    except (ValueError, RecursionError):
        return content
    return told.get("error", told) if isinstance(told, dict) else told


def _message(error: object) -> str:
    if isinstance(error, Mapping):
        return str(error.get("message") or error.get("detail") or dict(error))
    return str(error)


def _shown(message: str, key: str | None) -> str:
    safe = message.replace(key, "***") if key else message
    return " ".join(safe.split())[:LONGEST_MESSAGE] or "nothing more"
