"""The parts of docs/architecture.md that are drawn out of the code; `python -m infra.drawn` puts them there."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable
from pathlib import Path

from chalicelib.core.run import Status
from chalicelib.core.transitions import TRANSITIONS

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "docs" / "architecture.md"
FOLDERS = ("chalicelib", "infra", "clients/pawl_client")


def states() -> str:
    """The table of transitions as a Mermaid diagram, edges in the order of the table."""
    lines = ["```mermaid", "stateDiagram-v2", f"    [*] --> {Status.PENDING}: run.accepted"]
    for status, edges in TRANSITIONS.items():
        lines += [f"    {status} --> {edge.to}: {trigger} ({edge.tells})" for trigger, edge in edges.items()]
        lines += [f"    {status} --> [*]"] if not edges else []
    return "\n".join([*lines, "```"])


def modules() -> str:
    """One sentence a module: the first paragraph of its docstring."""
    rows = [f"| `{path.relative_to(ROOT)}` | {_first_paragraph(path)} |" for path in _modules()]
    return "\n".join(["| module | what it is for |", "|---|---|", *rows])


def _modules() -> list[Path]:
    found = [path for folder in FOLDERS for path in sorted((ROOT / folder).rglob("*.py")) if path.read_text().strip()]
    return [ROOT / "app.py", *(path for path in found if "build" not in path.relative_to(ROOT).parts)]


def _first_paragraph(path: Path) -> str:
    text = ast.get_docstring(ast.parse(path.read_text())) or ""
    return " ".join(text.split("\n\n")[0].split()).replace("|", "\\|")


PARTS: dict[str, Callable[[], str]] = {"states": states, "modules": modules}


def drawn(page: str) -> str:
    """The page with each part as today's code draws it."""
    for name, draw in PARTS.items():
        begin, end = f"<!-- {name}: drawn by infra/drawn.py -->", f"<!-- /{name} -->"
        block = f"{begin}\n{draw()}\n{end}".replace("\\", r"\\")
        page = re.sub(f"{re.escape(begin)}.*{re.escape(end)}", block, page, flags=re.DOTALL)
    return page


if __name__ == "__main__":
    PAGE.write_text(drawn(PAGE.read_text()))
