"""How a bench says what it found: a table for people, JSON for programs."""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping, Sequence


def arguments(name: str, text: str | None) -> argparse.ArgumentParser:
    """A parser of a bench's arguments; each bench has `--json`."""
    parser = argparse.ArgumentParser(
        prog=f"python -m {name}", description=text, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--json", action="store_true")
    return parser


def table(rows: Sequence[Mapping[str, object]], whole: object, as_json: bool) -> None:
    """Print the rows, all of which have the same columns, as a table of Markdown; or `whole`, as JSON."""
    if as_json:
        print(json.dumps(whole, indent=2))
        return
    names = list(rows[0])
    lines = [names, ["---" for _ in names], *([_text(row[name]) for name in names] for row in rows)]
    for line in lines:
        print(f"| {' | '.join(line)} |")


def _text(value: object) -> str:
    return f"{value:,.1f}" if isinstance(value, float) else f"{value:,}" if isinstance(value, int) else str(value)
