"""The WebSocket's events as API Gateway sends them, and the frames that answer."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest

import app
from chalicelib.adapters.dynamodb.watch_store import DynamoWatchStore
from chalicelib.bootstrap import World
from chalicelib.core.api_key import Scope
from chalicelib.core.ticket import COUNTS_FOR
from chalicelib.core.watch import MOST_RUNS
from tests.builders import run_id
from tests.handlers.conftest import OpenDoor
from tests.handlers.door import Door
from tests.usecases.audience import RecordingSockets

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

Frame = dict[str, Any]


class Context:
    aws_request_id = "request-1"
    function_name = "pawl-test-socket"
    memory_limit_in_mb = 256
    invoked_function_arn = "arn"

    def get_remaining_time_in_millis(self) -> int:
        return 29_000


@dataclass
class Posted(RecordingSockets):
    """Keeps the frames themselves, too."""

    def __post_init__(self) -> None:
        self.frames: list[Frame] = []

    def post(self, connection_id: str, frame: str) -> None:
        super().post(connection_id, frame)
        self.frames.append(json.loads(frame))


class Line:
    """One socket, from its opening on."""

    def __init__(self, world: World, posted: Posted) -> None:
        self._world, self._posted = world, posted

    def event(self, route: str, **more: Any) -> int:
        event = {"requestContext": {"routeKey": route, "connectionId": "c1"}, **more}
        return int(app.socket(event, Context())["statusCode"])

    def connect(self, ticket: str | None = None) -> int:
        return self.event("$connect", queryStringParameters={"ticket": ticket} if ticket else None)

    def close(self) -> int:
        return self.event("$disconnect")

    def say(self, text: str) -> list[Frame]:
        """Send a text; the frames that answer it."""
        self._posted.frames.clear()
        assert self.event("$default", body=text) == 200
        return [*self._posted.frames]

    def ask(self, action: str, **fields: Any) -> list[Frame]:
        return self.say(json.dumps({"action": action, **fields}))


@pytest.fixture
def posted(world: World, dynamodb: DynamoDBClient, table: str) -> Posted:
    made = Posted()
    world.sockets = made
    world.watches = DynamoWatchStore(dynamodb, table, clock=world.clock, chance=world.chance)
    return made


@pytest.fixture
def line(world: World, posted: Posted) -> Line:
    return Line(world, posted)


def _ticket(door: Door, **asked: Any) -> str:
    return str(door.post("/v1/tickets", asked).body["ticket"])


def _submitted(door: Door) -> str:
    return str(door.post("/v1/runs", {"agent": "demo", "text": "go"}).body["run_id"])


@pytest.fixture
def opened_line(line: Line, door: Door) -> Line:
    assert line.connect(_ticket(door)) == 200
    return line


def test_a_socket_that_says_what_nobody_knows_does_not_open(line: Line, door: Door) -> None:
    good = door.post("/v1/tickets").body["ticket"]

    assert line.event("$connect", queryStringParameters={"ticket": good, "since": "3"}) == 400


def test_a_socket_opens_with_a_ticket_and_with_nothing_else(line: Line, door: Door, world: World) -> None:
    good = _ticket(door)
    for bad in (None, "", "pawlt1.e30.x", good[:-1], f"{good}x"):
        assert line.connect(bad) == 401
    assert world.watches.connection("c1") is None
    world.clock.sleep(COUNTS_FOR.total_seconds())
    assert line.connect(good) == 401
    assert line.connect(_ticket(door)) == 200


def test_a_run_is_subscribed_to_and_unsubscribed_from_as_often_as_one_likes(opened_line: Line, door: Door) -> None:
    run = _submitted(door)
    for _ in range(2):
        said, events = opened_line.ask("subscribe", run_id=run)
        assert said == {"type": "subscribed", "run_id": run, "since": -1}
        assert [event["type"] for event in events["events"]] == ["run.accepted"]
    assert opened_line.ask("subscribe", run_id=run, since=0) == [{"type": "subscribed", "run_id": run, "since": 0}]
    for _ in range(2):
        assert opened_line.ask("unsubscribe", run_id=run) == [{"type": "unsubscribed", "run_id": run}]


def test_an_event_is_told_as_a_poll_tells_of_it(opened_line: Line, door: Door) -> None:
    run = _submitted(door)
    _, frame = opened_line.ask("subscribe", run_id=run)

    assert frame["events"] == door.get(f"/v1/runs/{run}/events").body["events"]
    assert frame["done"] is False


def test_a_ping_is_answered_and_so_is_the_next_one(opened_line: Line) -> None:
    assert [opened_line.ask("ping") for _ in range(2)] == [[{"type": "pong"}]] * 2


def test_a_run_is_cancelled_and_stays_cancelled(opened_line: Line, door: Door) -> None:
    run = _submitted(door)
    for _ in range(2):
        assert opened_line.ask("cancel", run_id=run, reason="enough") == [
            {"type": "status", "run_id": run, "status": "cancelled"}
        ]
    assert door.get(f"/v1/runs/{run}").body["cancelled"]["reason"] == "enough"


@pytest.mark.parametrize(
    ("sent", "code", "field"),
    [
        ("", "invalid_json", None),
        ("ping", "invalid_json", None),
        ("[]", "wrong_type", None),
        ("{}", "missing_field", "action"),
        ('{"action": 7}', "wrong_type", "action"),
        ('{"action": "shout"}', "unknown_action", "action"),
        ('{"action": "ping", "loud": true}', "unknown_field", "loud"),
        ('{"action": "subscribe"}', "missing_field", "run_id"),
        ('{"action": "subscribe", "run_id": "7"}', "invalid_run_id", "run_id"),
        ('{"action": "subscribe", "run_id": "RUN", "since": "7"}', "wrong_type", "since"),
        ('{"action": "subscribe", "run_id": "RUN", "since": true}', "wrong_type", "since"),
        ('{"action": "subscribe", "run_id": "RUN", "since": -2}', "since_too_low", "since"),
        ('{"action": "subscribe", "run_id": "RUN", "since": 9}', "since_ahead_of_log", "since"),
        ('{"action": "subscribe", "run_id": "RUN", "replay": "half"}', "invalid_replay", "replay"),
        ('{"action": "cancel", "run_id": "RUN", "reason": 7}', "wrong_type", "reason"),
    ],
)
def test_whatever_is_said_wrongly_is_refused_by_name_and_the_socket_stays_open(
    opened_line: Line, door: Door, posted: Posted, sent: str, code: str, field: str | None
) -> None:
    [frame] = opened_line.say(sent.replace("RUN", _submitted(door)))

    assert frame["type"] == "problem"
    assert (frame["problem"]["code"], frame["problem"].get("field")) == (code, field)
    assert posted.closed == []
    assert opened_line.ask("ping") == [{"type": "pong"}]


def test_a_problem_says_what_it_answers_and_is_the_rest_api_s(opened_line: Line, door: Door) -> None:
    [frame] = opened_line.ask("subscribe", run_id=run_id(7))
    by_rest = door.get(f"/v1/runs/{run_id(7)}/events").body

    assert (frame["action"], frame["run_id"]) == ("subscribe", run_id(7))
    assert frame["problem"] == {name: value for name, value in by_rest.items() if name != "request_id"}


def test_another_account_s_run_is_not_there_to_see_or_to_cancel(opened_line: Line, opened: OpenDoor) -> None:
    other = opened("globex")
    theirs = _submitted(other)
    for action in ("subscribe", "cancel"):
        [frame] = opened_line.ask(action, run_id=theirs)
        assert frame["problem"]["code"] == "run_not_found"
    assert other.get(f"/v1/runs/{theirs}").body["status"] == "pending"


def test_a_ticket_without_the_scope_does_not_cancel(line: Line, opened: OpenDoor, door: Door) -> None:
    run = _submitted(door)
    line.connect(_ticket(opened("acme", Scope.READ)))
    [frame] = line.ask("cancel", run_id=run)

    assert frame["problem"]["code"] == "scope_missing"
    assert door.get(f"/v1/runs/{run}").body["status"] == "pending"


@pytest.mark.parametrize("action", ["subscribe", "cancel"])
def test_a_ticket_for_one_run_is_for_no_other(line: Line, door: Door, action: str) -> None:
    mine, other = _submitted(door), _submitted(door)
    line.connect(_ticket(door, run_id=mine))
    [frame] = line.ask(action, run_id=other)

    assert frame["problem"]["code"] == "ticket_for_another_run"
    assert line.ask("subscribe", run_id=mine)[0]["type"] == "subscribed"


def test_a_socket_has_an_end_to_the_runs_that_it_watches(opened_line: Line, door: Door) -> None:
    runs = [_submitted(door) for _ in range(MOST_RUNS + 1)]
    for run in runs[:-1]:
        assert opened_line.ask("subscribe", run_id=run)[0]["type"] == "subscribed"
    [frame] = opened_line.ask("subscribe", run_id=runs[-1])
    assert frame["problem"]["code"] == "too_many_watches"

    opened_line.ask("unsubscribe", run_id=runs[0])
    assert opened_line.ask("subscribe", run_id=runs[-1])[0]["type"] == "subscribed"


def test_a_socket_outlives_its_ticket_by_one_answer(opened_line: Line, world: World, posted: Posted) -> None:
    world.clock.sleep(COUNTS_FOR.total_seconds())
    [frame] = opened_line.ask("ping")

    assert frame["problem"]["code"] == "ticket_expired"
    assert posted.closed == ["c1"]
    assert world.watches.connection("c1") is None


def test_a_socket_that_closes_is_forgotten_with_all_that_it_watched(
    opened_line: Line, door: Door, world: World
) -> None:
    run = _submitted(door)
    opened_line.ask("subscribe", run_id=run)
    assert opened_line.close() == opened_line.close() == 200

    assert world.watches.of_run(run) == []
    assert world.watches.connection("c1") is None


def test_no_log_line_has_a_ticket(line: Line, door: Door, caplog: pytest.LogCaptureFixture) -> None:
    sent = _ticket(door)
    with caplog.at_level("DEBUG"):
        line.connect(sent)
        line.connect(sent[:-1])

    assert caplog.records
    assert sent[:-1] not in caplog.text


def test_the_stream_s_records_reach_the_socket(
    opened_line: Line, door: Door, posted: Posted, record_of: Callable[[str, int], Frame]
) -> None:
    run = _submitted(door)
    opened_line.ask("subscribe", run_id=run)
    door.post(f"/v1/runs/{run}/cancel")
    posted.frames.clear()
    app.deliver({"Records": [record_of(run, 1)]}, Context())

    [frame] = posted.frames
    assert [event["type"] for event in frame["events"]] == ["run.cancelled"]
    assert frame["done"] is True


@pytest.fixture
def record_of() -> Callable[[str, int], Frame]:
    def made(run: str, seq: int) -> Frame:
        key = {"pk": {"S": f"RUN#{run}"}, "sk": {"S": f"EVENT#{seq:010}"}}
        return {"eventName": "INSERT", "dynamodb": {"Keys": key}}

    return made
