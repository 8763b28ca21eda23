"""Keeping secrets out of whatever a tool brings back: each by its exact value, plain and in the usual spellings."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterator, Mapping
from urllib.parse import quote, quote_plus

SHORTEST = 8
"""Characters of a secret. What is shorter stands in texts by chance, so that it cannot be told from them."""

_HEX = re.compile(r"%[0-9A-F]{2}")


class Redactor:
    """Takes the values of secrets, by name, out of texts."""

    def __init__(self, secrets: Mapping[str, str]) -> None:
        self._names = {spelled: name for name, value in secrets.items() for spelled in spellings(value)}
        longest_first = sorted(self._names, key=len, reverse=True)
        self._any = re.compile("|".join(map(re.escape, longest_first)))

    def __call__(self, text: str) -> str:
        return self._any.sub(lambda found: f"[secret {self._names[found[0]]}]", text) if self._names else text


def spellings(value: str) -> Iterator[str]:
    """The value itself, as it stands in a URL, in JSON and in base64, alone or with other text around it."""
    yield value
    for encoded in (quote(value), quote(value, safe=""), quote_plus(value)):
        yield encoded
        yield _HEX.sub(lambda found: found[0].lower(), encoded)
    yield json.dumps(value)[1:-1]
    yield json.dumps(value, ensure_ascii=False)[1:-1]
    for encode in (base64.b64encode, base64.urlsafe_b64encode):
        yield encode(value.encode()).decode()
        yield from (_within(value.encode(), before, encode(bytes(before) + value.encode())) for before in range(3))


def _within(value: bytes, before: int, encoded: bytes) -> str:
    """The digits that depend on nothing but the value, when as many bytes as that stand before it."""
    return encoded[-(-8 * before // 6) : 8 * (before + len(value)) // 6].decode()
