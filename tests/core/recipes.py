"""Recipes of agents, from the least to one that leaves nothing out."""

from __future__ import annotations

from typing import Any

from chalicelib.core import recipe
from chalicelib.core.agent import Agent

LEAST: dict[str, Any] = {"description": "Files things.", "prompt": "Be careful.", "model": "scripted:market"}

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"to": {"type": "string"}, "crowns": {"type": "number", "minimum": 0}},
    "required": ["to"],
    "additionalProperties": False,
}

PAY: dict[str, Any] = {
    "kind": "lambda",
    "name": "pay",
    "description": "Pays somebody.",
    "parameters": SCHEMA,
    "function": "arn:aws:lambda:eu-central-1:123456789012:function:pay:live",
    "role": "arn:aws:iam::123456789012:role/payments",
    "effect": "keyed",
    "timeout": 20,
    "open_world": False,
    "marks": ["private"],
    "costs": True,
    "at_least": "grave",
    "shown_bytes": 2048,
    "secrets": ["bank"],
    "fields": {"to": "text", "crowns": "number"},
}

SIGN: dict[str, Any] = {"kind": "outside", "name": "sign", "description": "A signature.", "parameters": SCHEMA}

WIKI: dict[str, Any] = {
    "kind": "mcp",
    "name": "wiki",
    "url": "https://wiki.example/mcp",
    "secret": "wiki",
    "tools": {"search": {"effect": "read", "open_world": False, "at_least": "outside", "timeout": 5}},
}

WHOLE: dict[str, Any] = {
    **LEAST,
    "tools": ["current_time"],
    "declared": [PAY, SIGN, WIKI],
    "permissions": [{"effect": "ask", "tool": "pay", "when": {"crowns": {"max": 10}}, "limit": {"calls": 3}}],
    "budget": {"steps": 7, "seconds": 700},
    "answer_within": 600,
    "on_expiry": "fail",
}


def everything() -> Agent:
    """An agent with nothing left to a default."""
    return recipe.read("everything", 1, WHOLE)
