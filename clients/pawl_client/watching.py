"""Follow a run in front of a person or a program, and end with the exit code that the run has earned."""

from __future__ import annotations

import json
import sys
from enum import IntEnum
from typing import Protocol

from pawl_client.client import PawlClient
from pawl_client.errors import PawlError
from pawl_client.follow import START, Back, Lost, follow
from pawl_client.screen import Chatter, Screen, screen
from pawl_client.telling import Doing, Noted, Told, Tone, tell
from pawl_client.wire import NOT_PAWL, Event


class ExitCode(IntEnum):
    """What `pawl` ends with. The numbers are stable."""

    DONE = 0
    ERROR = 1
    USAGE = 2
    FAILED = 3
    CANCELLED = 4
    INTERRUPTED = 130
    BROKEN_PIPE = 141


_EARNED = {"run.done": ExitCode.DONE, "run.failed": ExitCode.FAILED, "run.cancelled": ExitCode.CANCELLED}


class View(Protocol):
    """How a log is shown."""

    def take(self, event: Event) -> None:
        """Show what an event tells."""

    def hear(self, news: Lost | Back) -> None:
        """Show how the connection fares."""

    def close(self) -> None:
        """Leave the terminal as it was found."""


class Reading:
    """The log as a text for people."""

    def __init__(self, run_id: str, shown: Screen) -> None:
        self._shown = shown
        self._told = Told(run_id)
        self._shown.show(Doing("connecting"))

    def take(self, event: Event) -> None:
        """Show what an event tells."""
        self._told, pieces = tell(self._told, event)
        for piece in pieces:
            self._shown.show(piece)

    def hear(self, news: Lost | Back) -> None:
        """Show how the connection fares: one line when it is lost, one when it is back."""
        if isinstance(news, Back) or news.tries == 1:
            self._shown.show(_note(news))
        self._shown.show(Doing("following" if isinstance(news, Back) else f"reconnecting (try {news.tries})"))

    def close(self) -> None:
        """Leave the terminal as it was found."""
        self._shown.close()


class Lines:
    """The log as lines of JSON for programs."""

    def __init__(self, run_id: str) -> None:
        self._run_id = run_id
        self._chatter = Chatter()

    def take(self, event: Event) -> None:
        """Print the event."""
        print(json.dumps(event.document(self._run_id), ensure_ascii=False), file=sys.stdout, flush=True)

    def hear(self, news: Lost | Back) -> None:
        """Tell on stderr how the connection fares."""
        if isinstance(news, Back) or news.tries == 1:
            note = _note(news)
            self._chatter.note(note.text, note.tone)

    def close(self) -> None:
        """Nothing is open."""


def watch(client: PawlClient, run_id: str, *, since: int = START, as_json: bool = False) -> ExitCode:
    """Show the run's events until it ends or the user has enough."""
    try:
        last = _show(client, run_id, since, Lines(run_id) if as_json else Reading(run_id, screen()))
    except KeyboardInterrupt:
        note = f"stopped following; the run goes on. To stop it: pawl cancel {run_id}"
        Chatter().note(note, Tone.WARNING)
        return ExitCode.INTERRUPTED
    return _earned(last) if last in _EARNED else _earned(f"run.{client.run(run_id)['status']}")


def _show(client: PawlClient, run_id: str, since: int, view: View) -> str | None:
    """Show the log to its end; the type of the last event, None if the cursor stood there already."""
    last = None
    try:
        for event in follow(client, run_id, since, notice=view.hear):
            view.take(event)
            last = event.type
    finally:
        view.close()
    return last


def _earned(ending: str) -> ExitCode:
    try:
        return _EARNED[ending]
    except KeyError:
        raise PawlError(200, NOT_PAWL, f"the log has ended, and its run has not: {ending}") from None


def _note(news: Lost | Back) -> Noted:
    if isinstance(news, Back):
        return Noted("connected again")
    place = f"event {news.since}" if news.since > START else "the start"
    return Noted(f"reconnecting, from {place} ({news.trouble})", Tone.WARNING)
