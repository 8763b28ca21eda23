"""Where output goes: the agent's words to stdout, everything else to stderr. Colour and spinners only on a terminal."""

from __future__ import annotations

import sys
import unicodedata
from collections.abc import Mapping
from typing import Protocol, TextIO

from rich.console import Console
from rich.live import Live
from rich.spinner import Spinner
from rich.text import Text

from pawl_client.telling import Doing, Noted, Piece, Said, Stands, Tone, Void

_STYLES: Mapping[Tone, str] = {Tone.PLAIN: "dim", Tone.GOOD: "green", Tone.WARNING: "yellow", Tone.BAD: "bold red"}
FRAMES_PER_SECOND = 10
_KEPT = frozenset("\n\t")


def console(stream: TextIO) -> Console:
    """A console that has colour exactly if `stream` is a terminal, and NO_COLOR is not set."""
    return Console(file=stream, force_terminal=stream.isatty(), highlight=False, markup=False, emoji=False)


def printable(text: str) -> str:
    """Text that cannot move the cursor or recolour the screen: a model's words are not to be trusted with that."""
    return "".join(letter for letter in text if letter in _KEPT or unicodedata.category(letter) != "Cc")


class Chatter:
    """Notes and the spinner, on stderr."""

    def __init__(self, stream: TextIO | None = None) -> None:
        self._console = console(stream or sys.stderr)
        self._spinner: Live | None = None

    def note(self, text: str, tone: Tone = Tone.PLAIN) -> None:
        """One line that stays; a spinner that turns goes on below it."""
        self._console.print(Text(printable(text), style=_STYLES[tone]), soft_wrap=True)

    def busy(self, text: str) -> None:
        """Turn the spinner, on a terminal, and say beside it what goes on."""
        if not self._console.is_terminal:
            return
        label = Text(printable(text), style="dim", overflow="ellipsis", no_wrap=True)
        if self._spinner is None:
            # The words go to stdout by themselves; rich must not send them to stderr, where the spinner is.
            self._spinner = Live(
                console=self._console,
                transient=True,
                refresh_per_second=FRAMES_PER_SECOND,
                redirect_stdout=False,
                redirect_stderr=False,
            )
            self._spinner.start()
        self._spinner.update(Spinner("dots", label))

    def quiet(self) -> None:
        """Take the spinner off the screen."""
        if self._spinner is not None:
            self._spinner.stop()
            # A stop that Ctrl-C broke off half way leaves the cursor hidden, and the next one does nothing.
            self._console.show_cursor()
            self._spinner = None


class Screen(Protocol):
    """Shows the pieces of a run's telling as they come."""

    chatter: Chatter

    def show(self, piece: Piece) -> None:
        """Show one piece."""

    def close(self) -> None:
        """Leave whole lines and no spinner behind."""


class Typewriter:
    """For a terminal: words as they come. What turned out void stays where it is, with a note that it is."""

    def __init__(self, out: TextIO, chatter: Chatter) -> None:
        self.chatter = chatter
        self._out = out
        self._mid_line = False

    def show(self, piece: Piece) -> None:
        """Show one piece."""
        match piece:
            case Said(text):
                self._type(printable(text))
            case Noted(text, tone):
                self._end_line()
                self.chatter.note(text, tone)
            case Doing(text):
                if not self._mid_line:
                    self.chatter.busy(text)
            case Void() | Stands():
                self._end_line()

    def close(self) -> None:
        """Leave whole lines and no spinner behind."""
        self.chatter.quiet()
        self._end_line()

    def _type(self, text: str) -> None:
        if text:
            self.chatter.quiet()
            # Noted before it is true: Ctrl-C comes once the words can be read, and must not find a whole line.
            self._mid_line = not text.endswith("\n")
            self._out.write(text)
            self._out.flush()

    def _end_line(self) -> None:
        if self._mid_line:
            self._type("\n")


class Paper:
    """For a pipe or a file, which cannot be taken back: the words of a step once they stand, and no others."""

    def __init__(self, out: TextIO, chatter: Chatter) -> None:
        self.chatter = chatter
        self._out = out
        self._held: list[str] = []

    def show(self, piece: Piece) -> None:
        """Show one piece."""
        match piece:
            case Said(text):
                self._held.append(text)
            case Void():
                self._held.clear()
            case Stands():
                self._print()
            case Noted(text, tone):
                self.chatter.note(text, tone)
            case Doing(text):
                self.chatter.busy(text)

    def close(self) -> None:
        """Leave whole lines and no spinner behind."""
        self.chatter.quiet()

    def _print(self) -> None:
        text = "".join(self._held)
        self._held.clear()
        if text:
            self._out.write(text if text.endswith("\n") else text + "\n")
            self._out.flush()


def screen() -> Screen:
    """The screen for this process's stdout and stderr."""
    chatter = Chatter()
    return Typewriter(sys.stdout, chatter) if sys.stdout.isatty() else Paper(sys.stdout, chatter)
