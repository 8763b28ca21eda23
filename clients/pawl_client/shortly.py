"""Values in one line that is not too long."""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Mapping
from typing import Any

SHORT = 72
"""Letters of a tool's arguments or answer that a note may quote."""


def short(value: Any) -> str:
    """The value's first letters; what is kept apart from its event, by its size."""
    if kept := apart(value):
        return f"({kept['bytes']:,} bytes, kept apart: payload {kept['digest']})"
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    line = " ".join(text.split())
    return line if len(line) <= SHORT else line[: SHORT - 1] + "…"


def visible(text: str) -> str:
    """A text in which nothing hides, nor turns around what stands beside it: such characters are shown as escapes."""
    return "".join(json.dumps(char)[1:-1] if _is_unseen(char) else char for char in text)


def _is_unseen(char: str) -> bool:
    return unicodedata.category(char) in ("Cc", "Cf", "Zl", "Zp")


def apart(value: Any) -> Mapping[str, Any] | None:
    """What stands in the place of a field that is too large for its event, and nothing that only begins like it."""
    kept = value["payload"] if isinstance(value, Mapping) and set(value) == {"payload"} else None
    return kept if isinstance(kept, Mapping) and set(kept) == {"digest", "bytes"} else None
