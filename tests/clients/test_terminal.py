"""`pawl` as a person and as a script sees it: real processes, a real terminal, a real server."""

from __future__ import annotations

import json
import subprocess

import pytest

from tests.clients.door import Answer, Cut
from tests.clients.fake_pawl import OPENING, RUN_ID, STORY, FakePawl, log_of, replied, said
from tests.clients.terminal import COMMAND, environment, on_terminal, piped

ESCAPE = "\x1b"
COLOUR = "\x1b[3"
CURSOR_HIDDEN = "\x1b[?25l"
CURSOR_SHOWN = "\x1b[?25h"


def test_on_a_terminal_the_text_comes_between_a_spinner_and_a_last_line_in_colour(pawl: FakePawl) -> None:
    shown = on_terminal(["run", "Analyse market data", "--follow"], environment(pawl.url))
    assert shown.code == 0
    assert "\nMarkets rose.\ndone · 6.0 s · 1 step · 120 tokens\n" in shown.text
    assert "⠋ " in shown.text
    assert "\x1b[32mdone" in shown.raw
    assert shown.raw.endswith("\r\n")
    assert shown.raw.rindex(CURSOR_SHOWN) > shown.raw.rindex(CURSOR_HIDDEN)


def test_no_color_takes_the_colour_away(pawl: FakePawl) -> None:
    shown = on_terminal(["run", "Analyse", "--follow"], environment(pawl.url, NO_COLOR="1"))
    assert COLOUR not in shown.raw
    assert "Markets rose." in shown.text


@pytest.mark.parametrize("args", [["run", "Analyse", "--follow"], ["watch", RUN_ID], ["show", RUN_ID], ["runs"]])
def test_in_a_pipe_there_is_nothing_but_plain_text(pawl: FakePawl, args: list[str]) -> None:
    done = piped(args, environment(pawl.url, FORCE_COLOR="1"))
    assert done.returncode == 0
    assert ESCAPE not in done.stdout + done.stderr


def test_the_answer_alone_goes_into_a_pipe(pawl: FakePawl) -> None:
    done = piped(["run", "Analyse", "--follow"], environment(pawl.url))
    assert done.stdout == "Markets rose.\n"
    assert done.stderr == f"{RUN_ID}\ndone · 6.0 s · 1 step · 120 tokens\n"


BROKEN_OFF = log_of(
    *OPENING,
    said("Mar"),
    ("step.reset", {"step": 1, "from_seq": 3}),
    said("Markets rose."),
    replied("Markets rose."),
    ("run.done", {"output": {"text": "Markets rose."}}),
)


def test_a_terminal_says_what_is_void_and_prints_again(pawl: FakePawl) -> None:
    pawl.log = BROKEN_OFF
    shown = on_terminal(["watch", RUN_ID], environment(pawl.url))
    assert "Mar\nthat try broke off, its text is void; once more:\n" in shown.text
    assert "Markets rose.\ndone" in shown.text


def test_void_text_does_not_reach_a_pipe(pawl: FakePawl) -> None:
    pawl.log = BROKEN_OFF
    assert piped(["watch", RUN_ID], environment(pawl.url)).stdout == "Markets rose.\n"


def test_a_models_words_cannot_play_with_the_terminal(pawl: FakePawl) -> None:
    pawl.log = log_of(*OPENING, said("\x1b]0;owned\x07\x1b[2Jall \x9b5mgood\n"), ("run.done", {"output": {}}))
    shown = on_terminal(["watch", RUN_ID], environment(pawl.url, NO_COLOR="1"))
    assert "]0;owned[2Jall 5mgood" in shown.text
    assert not [control for control in ("\x1b]", "\x1b[2J", "\x9b", "\x07") if control in shown.raw]


@pytest.mark.parametrize(("events", "seen"), [(3, "thinking (step 1)"), (4, "Markets ")])
def test_ctrl_c_stops_following_and_not_the_run(pawl: FakePawl, events: int, seen: str) -> None:
    pawl.log = STORY[:events]
    shown = on_terminal(["watch", RUN_ID], environment(pawl.url), interrupt_at=seen)
    assert shown.code == 130
    assert shown.text.endswith(f"\nstopped following; the run goes on. To stop it: pawl cancel {RUN_ID}\n")
    assert "Traceback" not in shown.text
    assert shown.raw.rindex(CURSOR_SHOWN) > shown.raw.rindex(CURSOR_HIDDEN)
    assert {request.method for request in pawl.asked} == {"GET"}


def test_a_reader_that_has_enough_is_no_reason_to_complain(pawl: FakePawl) -> None:
    args = [*COMMAND, "watch", RUN_ID, "--json"]
    pawl.log = log_of(*OPENING, *[said("word " * 50)] * 2000)
    with subprocess.Popen(args, env=environment(pawl.url), stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout
        assert process.stderr
        assert json.loads(process.stdout.readline())["seq"] == 0
        process.stdout.close()
        assert process.stderr.read() == b""
    assert process.returncode == 141


def test_whoever_follows_is_told_when_the_server_is_lost_and_when_it_is_back(pawl: FakePawl) -> None:
    pawl.page_limit = 5
    pawl.script = lambda _: Answer(cut=Cut.RESET) if len(pawl.asked) == 2 else None
    done = piped(["watch", RUN_ID], environment(pawl.url))
    assert done.returncode == 0
    assert done.stdout == "Markets rose.\n"
    assert "reconnecting, from event 4 (no answer from" in done.stderr
    assert "\nconnected again\n" in done.stderr


@pytest.mark.parametrize(("typed", "code", "sent"), [("y\n", 0, ["DELETE"]), ("n\n", 1, []), ("\n", 1, [])])
def test_on_a_terminal_a_run_is_deleted_only_if_that_is_meant(
    pawl: FakePawl, typed: str, code: int, sent: list[str]
) -> None:
    shown = on_terminal(["delete", RUN_ID], environment(pawl.url), typed=typed)

    assert f"Delete {RUN_ID} with its log and its files, for good? [y/N]" in shown.text
    assert (shown.code, [request.method for request in pawl.asked]) == (code, sent)


def test_who_says_yes_is_not_asked(pawl: FakePawl) -> None:
    shown = on_terminal(["delete", RUN_ID, "--yes"], environment(pawl.url))

    assert (shown.text, shown.code) == (f"{RUN_ID} deleted\n", 0)
