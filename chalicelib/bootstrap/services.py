"""Who drives runs, who thinks for them, and where they are told of."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from chalicelib.bootstrap.stores import Stores
from chalicelib.config import InvalidSetting
from chalicelib.core.egress import EgressPolicy, any_public_name
from chalicelib.core.errors import Unavailable

if TYPE_CHECKING:
    from chalicelib.core.recipe import Offer
    from chalicelib.ports.agent_book import AgentBook
    from chalicelib.ports.announcer import Announcer
    from chalicelib.ports.model import Model
    from chalicelib.ports.sockets import Sockets
    from chalicelib.ports.webhook_queue import WebhookQueue
    from chalicelib.ports.workflow import Workflow


class Services(Stores):
    """The part of the world that is asked to do something."""

    @cached_property
    def workflow(self) -> Workflow:
        from chalicelib.adapters.aws import clients
        from chalicelib.adapters.aws.step_functions import StepFunctionsWorkflow

        return StepFunctionsWorkflow(clients.client("stepfunctions"), self.config.state_machine_arn)

    @cached_property
    def agents(self) -> AgentBook:
        from chalicelib.adapters.agents import Agents
        from chalicelib.adapters.built_in_agents import built_in

        model = self.config.model_name if self.config.model_url else None
        return Agents(built_in(model, self._absent_tools), self.own_agents)

    @property
    def _absent_tools(self) -> frozenset[str]:
        """Built-in tools that are not configured here."""
        there = {"send_email": self.config.email_from is not None, "run_code": self.config.sandbox != "off"}
        return frozenset(name for name, configured in there.items() if not configured)

    @property
    def reserved_agents(self) -> frozenset[str]:
        """Names that no account's own agent may have."""
        from chalicelib.adapters.built_in_agents import RESERVED

        return RESERVED

    @property
    def offer(self) -> Offer:
        """What agents can be made of here."""
        from chalicelib.adapters.models.scripts import SCRIPTS
        from chalicelib.core.recipe import Offer

        scripted = {"scripted": frozenset(SCRIPTS)}
        return Offer({**scripted, "openai": None} if self.config.model_url else scripted, self.config.laptop)

    @cached_property
    def model(self) -> Model:
        from chalicelib.adapters.models.routing import RoutedModel
        from chalicelib.adapters.models.scripted import ScriptedModel
        from chalicelib.adapters.models.scripts import SCRIPTS

        scripted = ScriptedModel(SCRIPTS, self.clock)
        if self.config.model_url is None:
            return RoutedModel({"scripted": scripted})
        from chalicelib.adapters.models.openai import OpenAIModel

        return RoutedModel({"scripted": scripted, "openai": OpenAIModel(self.config.model_url, self._model_key)})

    @property
    def _model_key(self) -> str | None:
        name = self.config.model_key_parameter
        return self.config.model_key if name is None else self._parameter(name)

    @cached_property
    def sockets(self) -> Sockets:
        from chalicelib.adapters.aws import clients
        from chalicelib.adapters.aws.api_gateway_sockets import ApiGatewaySockets

        return ApiGatewaySockets(clients.client("apigatewaymanagementapi", self.config.socket_endpoint))

    @cached_property
    def ticket_secret(self) -> bytes:
        """What tickets are signed with. Raises `Unavailable` if there is none."""
        if self.config.ticket_secret is not None:
            return self.config.ticket_secret.encode()
        if self.config.ticket_secret_parameter is None:
            raise Unavailable("there is no secret to sign tickets with")
        return self._parameter(self.config.ticket_secret_parameter).encode()

    @cached_property
    def webhook_queue(self) -> WebhookQueue:
        from chalicelib.adapters.aws import clients
        from chalicelib.adapters.aws.webhook_queue import SqsWebhookQueue

        if self.config.webhook_queue_url is None:
            raise InvalidSetting("PAWL_WEBHOOK_QUEUE_URL is not set")
        return SqsWebhookQueue(clients.client("sqs"), self.config.webhook_queue_url)

    @cached_property
    def announcer(self) -> Announcer:
        from chalicelib.adapters.aws import clients
        from chalicelib.adapters.aws.event_bus import EventBridgeAnnouncer

        if self.config.event_bus is None:
            raise InvalidSetting("PAWL_EVENT_BUS is not set")
        return EventBridgeAnnouncer(clients.client("events"), self.config.event_bus)

    @property
    def webhook_egress(self) -> EgressPolicy:
        """Where webhooks may go: to every public name, and on a laptop that says so, to itself."""
        return EgressPolicy(any_public_name, loopback=self.config.loopback_webhooks)
