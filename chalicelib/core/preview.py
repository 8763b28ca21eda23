"""What a call would do, as the person who is asked reads it: all of its arguments, and nothing in them unseen."""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Mapping
from typing import Any

from chalicelib.core.tools import ToolSpec

UNSEEN = frozenset({"Cc", "Cf", "Zl", "Zp"})
"""Categories of characters that show nothing, or turn around what stands beside them."""


def preview(spec: ToolSpec, args: Mapping[str, Any]) -> str:
    """A line for the tool, then one for each argument, in the order of the tool's schema; further lines of a text are
    indented, so that none of them can pass for an argument."""
    order = [name for name in spec.parameters.get("properties", {}) if name in args]
    order += [name for name in args if name not in order]
    return "\n".join([_shown(spec.name), *(f"  {_shown(name)}: {_value(args[name])}" for name in order)])


def _value(value: Any) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    lines = [_shown(line) for line in text.split("\n")]
    return lines[0] if len(lines) == 1 else "\n    ".join(["", *lines])


def _shown(text: str) -> str:
    return "".join(_escaped(char) if unicodedata.category(char) in UNSEEN else char for char in text)


def _escaped(char: str) -> str:
    return f"\\u{ord(char):04x}" if ord(char) < 0x10000 else f"\\U{ord(char):08x}"
