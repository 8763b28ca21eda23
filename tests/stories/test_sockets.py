"""Runs followed by real WebSockets: the gateway, the packaged handlers, and the table's stream between them."""

from __future__ import annotations

from typing import Any

import pytest
from websockets.exceptions import InvalidStatus

from chalicelib import bootstrap
from infra.local import packaged
from infra.local.cloud import LocalCloud
from tests.patience import await_true
from tests.socket_client import Reader, a_socket
from tests.stories.conftest import OpenTown, Town


def ticket(place: Town, **asked: Any) -> str:
    answer = place.http.post("/v1/tickets", json=asked)
    assert answer.status_code == 201, answer.text
    return str(answer.json()["ticket"])


def test_a_run_is_followed_live_and_nothing_is_missing_or_out_of_order(town: OpenTown) -> None:
    place = town()
    with a_socket(place.cloud.url, ticket(place)) as socket:
        run_id = place.submit("slow")
        socket.ask("subscribe", run_id=run_id)
        assert socket.hear() == {"type": "subscribed", "run_id": run_id, "since": -1}
        live = socket.hear_until(lambda frame: any(each["type"] == "text.delta" for each in frame.get("events", ())))
        assert not live["done"]
        place.cancel(run_id)
        socket.hear_to_the_end(run_id)
    assert socket.reader.events == place.follow(run_id)


def test_several_runs_come_by_one_socket(town: OpenTown) -> None:
    place = town()
    with a_socket(place.cloud.url, ticket(place)) as socket:
        run_ids = [place.submit(agent) for agent in ("quick", "five", "brief")]
        for run_id in run_ids:
            socket.ask("subscribe", run_id=run_id)
        for run_id in run_ids:
            socket.hear_to_the_end(run_id)
    for run_id in run_ids:
        assert socket.reader.cursors[run_id] == place.follow(run_id)[-1]["seq"]


def test_a_run_is_cancelled_by_the_socket_that_watches_it(town: OpenTown) -> None:
    place = town()
    run_id = place.submit("slow")
    with a_socket(place.cloud.url, ticket(place, run_id=run_id)) as socket:
        socket.ask("subscribe", run_id=run_id)
        socket.hear_until(lambda frame: any(each["type"] == "text.delta" for each in frame.get("events", ())))
        socket.ask("cancel", run_id=run_id, reason="enough")
        socket.hear_to_the_end(run_id)
    assert socket.reader.events[-1]["type"] == "run.cancelled"
    assert socket.reader.events == place.follow(run_id)


def test_a_watch_goes_on_by_the_next_socket_and_the_next_ticket(town: OpenTown) -> None:
    place, reader = town(), Reader()
    run_id = place.submit("quick")
    sockets = 0
    while run_id not in reader.ended:
        sockets += 1
        with a_socket(place.cloud.url, ticket(place, run_id=run_id), reader) as socket:
            socket.ask("subscribe", run_id=run_id, since=reader.cursors.get(run_id, -1))
            socket.hear_until(lambda frame: frame["type"] == "events")
    assert reader.events == place.follow(run_id)
    assert sockets > 1


def test_without_a_ticket_there_is_no_socket(town: OpenTown) -> None:
    place = town()
    for sent in ("", place.key, ticket(place)[:-1]):
        with pytest.raises(InvalidStatus) as refused, a_socket(place.cloud.url, sent):
            pass
        assert refused.value.response.status_code == 401


def test_no_line_of_the_server_has_a_ticket(town: OpenTown, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("DEBUG")
    place = town()
    sent = ticket(place)
    with a_socket(place.cloud.url, sent) as socket:
        socket.ask("ping")
        socket.hear()
    with pytest.raises(InvalidStatus), a_socket(place.cloud.url, sent[:-1]):
        pass
    lines = [each.getMessage() for each in caplog.records if not each.name.startswith("websockets.client")]
    assert len(lines) > 10
    assert not [line for line in lines if sent[:-1] in line]


def test_sockets_are_reached_from_lambdas_in_processes_of_their_own() -> None:
    with LocalCloud(packaged.options({}, ticking=False, processes=True)) as cloud:
        place = Town(cloud)
        with place.http, a_socket(cloud.url, ticket(place)) as socket:
            run_id = place.submit("demo")
            socket.ask("subscribe", run_id=run_id)
            socket.hear_until(lambda frame: any(each["type"] == "text.delta" for each in frame.get("events", ())))
            socket.ask("cancel", run_id=run_id)
            socket.hear_to_the_end(run_id)
        await_true(lambda: bootstrap.world().watches.of_run(run_id) == [], 10)
