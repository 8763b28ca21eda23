"""One try of one webhook: what each answer comes to. SSRF-proof on real sockets."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import pytest

from chalicelib.core import webhook
from chalicelib.core.egress import EgressPolicy, any_public_name
from chalicelib.core.errors import EgressFailed, EgressFault, EgressRefused
from chalicelib.core.events import EventType
from chalicelib.core.run import RunWebhook
from chalicelib.core.webhook import Webhook
from chalicelib.ports.web import Web, WebAnswer, WebRequest
from chalicelib.ports.webhook_queue import Sending, Taken
from chalicelib.usecases.announce import announce
from chalicelib.usecases.send_webhook import Sent, send_webhook
from tests.adapters.net.website import PUBLIC, Network, Said, serving
from tests.builders import a_webhook, an_announcement
from tests.usecases.post import Announced, Hooks, Queue
from tests.virtual_time import EPOCH, VirtualTime

POLICY = EgressPolicy(any_public_name)


@dataclass
class Line:
    """A `Web` that answers one thing."""

    answer: int | EgressFault
    asked: list[WebRequest] = field(default_factory=list)

    def ask(self, request: WebRequest, policy: EgressPolicy) -> WebAnswer:
        self.asked.append(request)
        if isinstance(self.answer, EgressFault):
            raise self.answer
        return WebAnswer(request.url, self.answer, {}, b"", False)


def _send(
    web: Web,
    hooks: Hooks,
    queue: Queue,
    tries: int = 1,
    policy: EgressPolicy = POLICY,
    sending: Sending | None = None,
) -> Sent:
    taken = Taken(sending or Sending(an_announcement(), "ops"), tries, "m-1", "r-1")
    return send_webhook(taken, webhooks=hooks, queue=queue, web=web, policy=policy, clock=VirtualTime())


@pytest.mark.parametrize("status", [200, 201, 204, 299])
def test_a_2xx_is_delivered(status: int) -> None:
    queue = Queue()

    assert _send(Line(status), Hooks(a_webhook()), queue) is Sent.DELIVERED
    assert queue.put_off_by == []


@pytest.mark.parametrize("answer", [199, 301, 302, 400, 404, 409, 429, 500, 503])
def test_any_other_answer_is_put_off(answer: int) -> None:
    queue = Queue()

    assert _send(Line(answer), Hooks(a_webhook()), queue, tries=3) is Sent.PUT_OFF
    assert queue.put_off_by == [webhook.BACK_OFF[2]]


@pytest.mark.parametrize("fault", [EgressFailed("no_answer", ""), EgressRefused("address_not_allowed", "")])
def test_no_answer_is_put_off_too(fault: EgressFault) -> None:
    assert _send(Line(fault), Hooks(a_webhook()), Queue()) is Sent.PUT_OFF


def test_the_last_try_is_put_off_by_nothing_so_that_it_becomes_a_dead_letter_at_once() -> None:
    queue = Queue()

    assert _send(Line(500), Hooks(a_webhook()), queue, tries=webhook.TRIES) is Sent.PUT_OFF
    assert queue.put_off_by == [0]


def test_a_receiver_that_is_gone_is_disabled_and_not_asked_again() -> None:
    hooks, line, queue = Hooks(a_webhook()), Line(410), Queue()

    assert _send(line, hooks, queue) is Sent.GONE
    assert _send(line, hooks, queue) is Sent.DROPPED
    assert (len(line.asked), queue.put_off_by) == (1, [])
    assert hooks.of_account("acme")[0].disabled_at == EPOCH


@pytest.mark.parametrize(
    "hook",
    [a_webhook(name="other"), a_webhook(account_id="globex"), a_webhook(events=frozenset({EventType.RUN_FAILED}))],
)
def test_what_nobody_wants_any_more_is_not_sent(hook: Webhook) -> None:
    line = Line(200)

    assert _send(line, Hooks(hook), Queue()) is Sent.DROPPED
    assert line.asked == []


def test_a_receiver_has_fifteen_seconds_and_sends_nobody_on() -> None:
    line = Line(200)
    _send(line, Hooks(a_webhook()), Queue())

    [request] = line.asked
    assert (request.method, request.seconds, request.redirects) == ("POST", 15.0, 0)


@pytest.mark.parametrize("addresses", [["127.0.0.1"], [PUBLIC, "127.0.0.1"], ["::ffff:127.0.0.1"], ["169.254.169.254"]])
def test_a_name_that_leads_inside_gets_no_webhook(addresses: Sequence[str]) -> None:
    network = Network({"hooks.example.com": [addresses]})
    with serving() as canary:
        # The port of the canary is let through, so that nothing but the address stands before it.
        policy = EgressPolicy(lambda target: True)
        hook = a_webhook(url=f"http://hooks.example.com:{canary.port}/")

        assert _send(network.web(), Hooks(hook), Queue(), policy=policy) is Sent.PUT_OFF

    assert (canary.dialled, network.dialled) == (0, [])


def test_a_receiver_that_redirects_inside_is_not_followed() -> None:
    with (
        serving() as canary,
        serving(lambda asked: Said(307, {"Location": f"http://127.0.0.1:{canary.port}/"})) as site,
    ):
        hook = a_webhook(url=f"http://hooks.example.com:{site.port}/")
        web = Network({"hooks.example.com": [[PUBLIC]]}).web()

        assert _send(web, Hooks(hook), Queue(), policy=EgressPolicy(lambda target: True)) is Sent.PUT_OFF

    assert (len(site.asked), canary.dialled) == (1, 0)


def test_news_go_to_every_webhook_of_the_account_that_wants_them_and_to_the_bus() -> None:
    only_failures = a_webhook(name="failures", events=frozenset({EventType.RUN_FAILED}))
    gone = a_webhook(name="gone", disabled_at=EPOCH)
    hooks = Hooks(a_webhook(), only_failures, gone, a_webhook(name="theirs", account_id="globex"))
    queue, bus = Queue(), Announced()
    told = [an_announcement(), an_announcement(EventType.RUN_FAILED, account_id="globex")]

    announce(told, webhooks=hooks, queue=queue, announcer=bus)

    assert [(each.announcement.account_id, each.webhook) for each in queue.put_in] == [
        ("acme", "ops"),
        ("globex", "theirs"),
    ]
    assert bus.told == told


def test_a_runs_own_webhook_gets_its_news_besides_under_the_secret_of_the_named_one() -> None:
    own = RunWebhook("https://mine.example.com/", "ops")
    hooks = Hooks(a_webhook(events=frozenset({EventType.RUN_FAILED})))
    queue, line = Queue(), Line(200)

    announce([replace(an_announcement(), own=own)], webhooks=hooks, queue=queue, announcer=Announced())
    [sending] = queue.put_in

    assert _send(line, hooks, queue, sending=sending) is Sent.DELIVERED
    assert line.asked[0].url == own.url
    signed = webhook.headers(sending.announcement, line.asked[0].body or b"", ["whsec_c2VjcmV0"], EPOCH)
    assert line.asked[0].headers == signed


def test_a_runs_own_receiver_that_is_gone_disables_nobody() -> None:
    hooks, queue = Hooks(a_webhook()), Queue()
    sending = Sending(an_announcement(), "ops", "https://mine.example.com/")

    assert _send(Line(410), hooks, queue, sending=sending) is Sent.GONE
    assert hooks.of_account("acme") == [a_webhook()]
    assert queue.put_off_by == []


def test_without_the_named_webhook_nobody_can_sign() -> None:
    line, sending = Line(200), Sending(an_announcement(), "ops", "https://mine.example.com/")

    assert _send(line, Hooks(), Queue(), sending=sending) is Sent.DROPPED
    assert line.asked == []


def test_without_news_nothing_is_read() -> None:
    hooks = Hooks(a_webhook())
    announce([], webhooks=hooks, queue=Queue(), announcer=Announced())

    assert hooks.reads == 0
