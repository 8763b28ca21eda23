"""An agent as JSON: what an account may write, how it is kept, and the agent made of it.

`check` is for what comes from outside; `read` takes what passed it once, whatever `check` has become since.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from chalicelib.core import declared_data, mcp, permissions
from chalicelib.core.agent import DEFAULT_BUDGET, Agent, Expiry
from chalicelib.core.declared import DeclaredTool, McpServer
from chalicelib.core.errors import InvalidInput
from chalicelib.core.fields import check_count, check_form, check_range, check_text, check_word, fields
from chalicelib.core.run import Budget
from chalicelib.core.task import MAX_BUDGET, check_budget
from chalicelib.core.tools import ToolSpec

MAX_DESCRIPTION = 1024
MAX_PROMPT = 32 * 1024
MAX_TOOLS = 64
MAX_BYTES = 128 * 1024
"""Of a whole recipe as JSON: two copies of it go into one transaction, each far below what an item may have."""
ANSWER_WITHIN = (60, 30 * 24 * 3600)

NAME = re.compile(r"[a-z][a-z0-9-]{0,63}")
NAME_FORM = "a small letter, then at most 63 small letters, digits or -"
_MODEL = re.compile(r"([a-z0-9]+):([\x21-\x7e]{1,200})")

_REQUIRED: Mapping[str, type] = {"description": str, "prompt": str, "model": str}
_OPTIONAL: Mapping[str, type] = {
    "tools": list,
    "declared": list,
    "permissions": list,
    "budget": dict,
    "answer_within": int,
    "on_expiry": str,
}


@dataclass(frozen=True, slots=True)
class Offer:
    """What agents can be made of here: the `providers` of models, each with the models that it has, None where only it
    can say, and whether MCP servers may be this machine's own."""

    providers: Mapping[str, frozenset[str] | None]
    loopback: bool = False


def is_name(text: str) -> bool:
    """Whether an agent could have that name."""
    return NAME.fullmatch(text) is not None


def check_name(name: str) -> None:
    """Raises `InvalidInput`."""
    if not is_name(name):
        detail = "this is no name of an agent"
        raise InvalidInput("invalid_agent_name", detail, field="name", expected=NAME_FORM)


def check(asked: Any, offer: Offer) -> None:
    """Raises `InvalidInput` with the path of what is wrong. Whether the tools are there, and so what permissions may be
    about, only a toolbox can say."""
    given = fields(asked, "", _REQUIRED, _OPTIONAL)
    check_text(given["description"], "description", MAX_DESCRIPTION)
    check_text(given["prompt"], "prompt", MAX_PROMPT)
    _check_model(given["model"], offer)
    for place, name in enumerate(given.get("tools", ())):
        check_form(name, f"tools[{place}]", declared_data.NAME, declared_data.NAME_FORM)
    check_count(given.get("tools", ()), "tools", MAX_TOOLS)
    declared_data.check(given.get("declared", ()), "declared", loopback=offer.loopback)
    _check_limits(given)
    size = len(json.dumps(given).encode())
    if size > MAX_BYTES:
        raise InvalidInput("agent_too_large", f"it has {size} bytes", expected=f"at most {MAX_BYTES} bytes of JSON")


def _check_model(model: str, offer: Offer) -> None:
    form = _MODEL.fullmatch(model)
    if form is None or not _has(offer, form[1], form[2]):
        known = ", ".join(_models(offer))
        raise InvalidInput("unknown_model", "no provider has such a model", field="model", expected=f"one of: {known}")


def _has(offer: Offer, provider: str, name: str) -> bool:
    names = offer.providers.get(provider, frozenset())
    return names is None or name in names


def _models(offer: Offer) -> Iterator[str]:
    for provider, names in sorted(offer.providers.items()):
        yield from (f"{provider}:{name}" for name in (["NAME"] if names is None else sorted(names)))


def _check_limits(given: Mapping[str, Any]) -> None:
    budget = fields(given.get("budget", {}), "budget.", {}, {"steps": int, "seconds": int})
    check_budget("steps", budget.get("steps"), MAX_BUDGET.steps)
    check_budget("seconds", budget.get("seconds"), MAX_BUDGET.seconds)
    if "answer_within" in given:
        check_range(given["answer_within"], "answer_within", *ANSWER_WITHIN)
    if "on_expiry" in given:
        check_word(given["on_expiry"], "on_expiry", Expiry)


def read(name: str, version: int, data: Mapping[str, Any]) -> Agent:
    """The agent, of data that `check` let through."""
    given = {field: value for field, value in data.items() if value is not None}
    budget = {part: value for part, value in given.get("budget", {}).items() if value is not None}
    return Agent(
        name=name,
        version=version,
        description=given["description"],
        prompt=given["prompt"],
        model=given["model"],
        tools=tuple(given.get("tools", ())),
        declared=declared_data.read(given.get("declared", ())),
        permissions=permissions.of_data(given.get("permissions", ())),
        budget=Budget(**{**asdict(DEFAULT_BUDGET), **budget}),
        **_answering(given),
    )


def _answering(given: Mapping[str, Any]) -> dict[str, Any]:
    answering = {"answer_within": given["answer_within"]} if "answer_within" in given else {}
    return answering | ({"on_expiry": Expiry(given["on_expiry"])} if "on_expiry" in given else {})


def data(agent: Agent) -> dict[str, Any]:
    """The agent as JSON, without name and version, and with nothing left to a default; `read` makes the same of it."""
    return {
        "description": agent.description,
        "prompt": agent.prompt,
        "model": agent.model,
        "tools": list(agent.tools),
        "declared": declared_data.data(agent.declared),
        "permissions": permissions.to_data(agent.permissions),
        "budget": asdict(agent.budget),
        "answer_within": agent.answer_within,
        "on_expiry": agent.on_expiry,
    }


def declared_names(agent: Agent) -> tuple[str, ...]:
    """The names that the agent's declared tools take, one each; a server's stands for those of all its tools."""
    return tuple(each.name if isinstance(each, McpServer) else each.spec.name for each in agent.declared)


def declared_specs(agent: Agent) -> tuple[ToolSpec, ...]:
    """The declared tools as permissions may be about them. What a server's tools are, nobody has asked it yet: they
    are taken at their worst, those that the account says something of by their names, and all of them by `*`."""
    return tuple(spec for each in agent.declared for spec in _specs(each))


def _specs(declared: DeclaredTool) -> tuple[ToolSpec, ...]:
    if not isinstance(declared, McpServer):
        return (declared.spec,)
    known = [mcp.tool_name(declared.name, tool) for tool in sorted(declared.tools)]
    return tuple(ToolSpec(name, "", {}) for name in (*known, f"{declared.name}{mcp.BETWEEN}*"))


def digest(agent: Agent) -> str:
    """Equal for agents of the same content, whatever their version."""
    return hashlib.sha256(json.dumps(data(agent), sort_keys=True).encode()).hexdigest()
