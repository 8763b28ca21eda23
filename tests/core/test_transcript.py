"""What the model is shown."""

from __future__ import annotations

from chalicelib.core.events import EventType
from chalicelib.core.reply import ModelSaid, ToolCall, ToolSaid, UserSaid
from chalicelib.core.transcript import UNKNOWN_OUTCOME, messages, text
from tests.builders import an_event
from tests.core.a_log import RUN_ID, LogInWords, a_started_log

CALL = ToolCall(f"{RUN_ID}-1-0", "look", {})


def shown(log: LogInWords) -> list[object]:
    return list(messages(RUN_ID, log.events, log.events[-1].seq))


def test_the_turns_come_in_the_order_of_the_log() -> None:
    log = a_started_log().step().said("I look.", "look").tool_began().tool_ended(content="blue")
    assert shown(log) == [UserSaid("go"), ModelSaid("I look.", (CALL,)), ToolSaid(CALL.call_id, "look", "blue", True)]


def test_nothing_is_shown_beyond_the_own_step_started() -> None:
    log = a_started_log().step()
    request = messages(RUN_ID, log.events, until=log.events[-1].seq)
    log.message("late")
    assert messages(RUN_ID, log.events, until=2) == request == (UserSaid("go"),)


def test_the_text_of_a_dead_call_is_not_shown() -> None:
    assert shown(a_started_log().step().delta("hal").taken().reset()) == [UserSaid("go")]


def test_a_call_whose_outcome_is_unknown_is_told_as_that() -> None:
    log = a_started_log().step().said("", "look").tool_began().tool_lost()
    assert shown(log)[-1] == ToolSaid(CALL.call_id, "look", UNKNOWN_OUTCOME, False)


def test_a_message_in_the_middle_of_calls_follows_their_answers() -> None:
    log = a_started_log().step().said("", "look").tool_began().message("hurry").tool_ended()
    assert [type(turn) for turn in shown(log)] == [UserSaid, ModelSaid, ToolSaid, UserSaid]


def test_the_text_of_a_run_is_that_of_its_replies() -> None:
    log = a_started_log().step().delta("on").taken().reset().delta("one").said("one", "look").tool_began().tool_ended()
    assert text(log.step(2).said(" two", step=2).events) == "one two"


def test_the_model_is_told_which_files_its_task_came_with() -> None:
    file = {"file_id": "file_1", "name": "takings.csv", "size": 3, "media_type": "text/csv"}
    log = [an_event(0, EventType.RUN_ACCEPTED, text="Which stall grows?", files=[file])]

    [said] = messages(RUN_ID, log, 0)

    assert said == UserSaid("Which stall grows?\n\nFiles of this task:\n- takings.csv (text/csv, 3 bytes)")
