"""What the doctor found, and the exit code that it earns."""

from __future__ import annotations

from collections.abc import Iterator

from pawl_client import render
from pawl_client.client import PawlClient
from pawl_client.screen import Chatter
from pawl_client.telling import Tone
from pawl_client.watching import ExitCode
from pawl_client.wire import Json


def examine(client: PawlClient, *, repair: bool, as_json: bool) -> ExitCode:
    """Tell all that is not as it must be."""
    findings = list(_findings(client, repair=repair))
    if as_json:
        render.document({"findings": findings})
    else:
        render.findings(findings)
        _sum_up(findings)
    return ExitCode.ERROR if findings else ExitCode.DONE


def _findings(client: PawlClient, *, repair: bool) -> Iterator[Json]:
    """Page by page: the account's runs, then the executions that are running."""
    after = None
    while True:
        page = client.doctor(repair=repair, after=after)
        yield from page["findings"]
        after = page["next"]
        if after is None:
            return


def _sum_up(findings: list[Json]) -> None:
    if not findings:
        Chatter().note("nothing is wrong", Tone.GOOD)
        return
    repaired = sum(finding["repaired"] for finding in findings)
    Chatter().note(f"{len(findings)} found, {repaired} repaired", Tone.WARNING if repaired else Tone.BAD)
