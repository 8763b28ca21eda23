"""What commands have in common: the server that they ask, ids, and whether they answer in JSON."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Annotated

import typer

from pawl_client import settings
from pawl_client.client import PawlClient
from pawl_client.errors import Trouble
from pawl_client.screen import Chatter
from pawl_client.telling import Tone

AsJson = Annotated[bool, typer.Option("--json", help="JSON on stdout: one document, or one line for each event.")]


def checked_id(text: str) -> str:
    """An id as it was typed. Raises `typer.BadParameter` for what cannot be one."""
    if not re.fullmatch(r"[\w-]+", text, re.ASCII):
        raise typer.BadParameter(f"{text!r} is no id")
    return text


def connect(ctx: typer.Context) -> PawlClient:
    """The server that the command line, the environment or the directory names."""
    found = settings.load(ctx.obj, os.environ, Path.cwd())
    return PawlClient(found.url, found.key, retrying=_tell_retry)


def _tell_retry(trouble: Trouble, tries: int) -> None:
    if tries == 1:
        Chatter().note(f"{trouble}; trying again for some seconds", Tone.WARNING)
