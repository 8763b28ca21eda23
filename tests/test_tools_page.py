"""docs/tools.md tells of the tools and the grammar that there are."""

from __future__ import annotations

import re
from pathlib import Path

from chalicelib.bootstrap import World
from chalicelib.config import Config
from chalicelib.core import grants

PAGE = (Path(__file__).parents[1] / "docs" / "tools.md").read_text()
SPECS = {spec.name: spec for spec in World(Config(table="t", bucket="b", state_machine_arn="a")).built_in_specs}


def rows(title: str) -> list[list[str]]:
    """The cells of the first table under a heading, without its head."""
    section = PAGE.partition(f"## {title}\n")[2].partition("\n## ")[0]
    lines = [line for line in section.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:]]


def test_the_page_has_every_built_in_tool_with_its_risk_and_its_fields() -> None:
    told = {
        name.strip("`"): (risk.split(",")[0], re.findall(r"`(\w+)`", fields))
        for name, _, risk, fields in rows("Built in")
    }

    assert told == {name: (spec.risk.name.lower(), [*spec.fields]) for name, spec in SPECS.items()}


def test_the_examples_are_rules() -> None:
    lines = re.findall(r"`([^`]+)`", "".join(rule for _, rule in rows("Examples")))

    assert len(lines) >= 7
    assert len(grants.parse(lines, field="page", specs=SPECS.values())) == len(lines)
