"""Tokens where nobody counted them: a broken-off call, a provider that gives no figures."""

from __future__ import annotations

from collections.abc import Iterable

from chalicelib.core.reply import Message, ModelSaid, ToolSaid, Usage, UserSaid

CHARACTERS_A_TOKEN = 4
"""The usual rule of thumb for English text."""


def estimate(prompt: str, messages: Iterable[Message], said: str) -> Usage:
    """The usage of a call that was shown prompt and messages and came as far as `said`."""
    shown = len(prompt) + sum(_length(message) for message in messages)
    return Usage(_tokens(shown), _tokens(len(said)), estimated=True)


def _length(message: Message) -> int:
    match message:
        case UserSaid(text):
            return len(text)
        case ModelSaid(text, calls):
            return len(text) + sum(len(str(call.args)) for call in calls)
        case ToolSaid(content=content):
            return len(content)


def _tokens(characters: int) -> int:
    return -(-characters // CHARACTERS_A_TOKEN)
