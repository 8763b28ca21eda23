"""The one place where adapters meet ports.

Each part of the world is made when it is first asked for, and what it needs is imported then: a Lambda that looks up an
API key pays for one client, not for four.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import cache, cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING

from chalicelib.adapters.system import SystemChance, SystemClock, ThreadCrew
from chalicelib.config import Config, InvalidSetting
from chalicelib.core.egress import EgressPolicy, any_public_name
from chalicelib.core.errors import Unavailable

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

    from chalicelib.adapters.aws.file_bucket import FileBucket
    from chalicelib.adapters.tools.lambda_tool import LambdaTools
    from chalicelib.adapters.tools.mcp_servers import McpServers
    from chalicelib.adapters.tools.toolbox import FunctionToolbox, Tool
    from chalicelib.core.recipe import Offer
    from chalicelib.core.tools import ToolSpec
    from chalicelib.ports.agent_book import AgentBook
    from chalicelib.ports.agent_store import AgentStore
    from chalicelib.ports.announcer import Announcer
    from chalicelib.ports.archive_store import ArchiveStore
    from chalicelib.ports.audit import Audit
    from chalicelib.ports.chance import Chance
    from chalicelib.ports.clock import Clock
    from chalicelib.ports.code_sandbox import CodeSandbox
    from chalicelib.ports.crew import Crew
    from chalicelib.ports.file_store import FileStore
    from chalicelib.ports.key_store import KeyStore
    from chalicelib.ports.mailer import Mailer
    from chalicelib.ports.model import Model
    from chalicelib.ports.note_store import NoteStore
    from chalicelib.ports.payload_store import PayloadStore
    from chalicelib.ports.policy_book import PolicyBook
    from chalicelib.ports.run_files import RunFiles
    from chalicelib.ports.run_store import RunStore
    from chalicelib.ports.secrets import Secrets
    from chalicelib.ports.sockets import Sockets
    from chalicelib.ports.stream import Stream
    from chalicelib.ports.toolbox import Toolboxes
    from chalicelib.ports.upload_store import UploadStore
    from chalicelib.ports.watch_store import WatchStore
    from chalicelib.ports.web import Web
    from chalicelib.ports.webhook_queue import WebhookQueue
    from chalicelib.ports.webhook_store import WebhookStore
    from chalicelib.ports.workflow import Workflow


class World:
    """What the use cases take their ports from."""

    def __init__(self, config: Config) -> None:
        self.config = config
        self.clock: Clock = SystemClock()
        self.chance: Chance = SystemChance()
        self.crew: Crew = ThreadCrew()

    @cached_property
    def runs(self) -> RunStore:
        from chalicelib.adapters.dynamodb.run_store import DynamoRunStore

        return DynamoRunStore(
            self._dynamodb, self.config.table, payloads=self._payloads, clock=self.clock, chance=self.chance
        )

    @cached_property
    def archives(self) -> ArchiveStore:
        from chalicelib.adapters.dynamodb.archive_store import DynamoArchiveStore

        return DynamoArchiveStore(
            self._dynamodb, self.config.table, payloads=self._payloads, clock=self.clock, chance=self.chance
        )

    @cached_property
    def audit(self) -> Audit:
        from chalicelib.adapters.dynamodb.audit import DynamoAudit

        return DynamoAudit(
            self._dynamodb, self.config.table, payloads=self._payloads, clock=self.clock, chance=self.chance
        )

    @cached_property
    def keys(self) -> KeyStore:
        from chalicelib.adapters.dynamodb.key_store import DynamoKeyStore

        return DynamoKeyStore(self._dynamodb, self.config.table, clock=self.clock, chance=self.chance)

    @cached_property
    def stream(self) -> Stream:
        from chalicelib.adapters.dynamodb.stream import DynamoStream

        return DynamoStream()

    @cached_property
    def watches(self) -> WatchStore:
        from chalicelib.adapters.dynamodb.watch_store import DynamoWatchStore

        return DynamoWatchStore(self._dynamodb, self.config.table, clock=self.clock, chance=self.chance)

    @cached_property
    def sockets(self) -> Sockets:
        from chalicelib.adapters.aws import clients
        from chalicelib.adapters.aws.api_gateway_sockets import ApiGatewaySockets

        return ApiGatewaySockets(clients.client("apigatewaymanagementapi", self.config.socket_endpoint))

    @cached_property
    def policies(self) -> PolicyBook:
        from chalicelib.adapters.dynamodb.policy_book import DynamoPolicyBook

        return DynamoPolicyBook(self._dynamodb, self.config.table, clock=self.clock, chance=self.chance)

    @cached_property
    def uploads(self) -> UploadStore:
        from chalicelib.adapters.dynamodb.upload_store import DynamoUploadStore

        return DynamoUploadStore(
            self._dynamodb, self.config.table, bucket=self._files, clock=self.clock, chance=self.chance
        )

    @cached_property
    def files(self) -> FileStore:
        from chalicelib.adapters.dynamodb.file_store import DynamoFileStore

        return DynamoFileStore(
            self._dynamodb, self.config.table, bucket=self._files, clock=self.clock, chance=self.chance
        )

    @cached_property
    def workflow(self) -> Workflow:
        from chalicelib.adapters.aws import clients
        from chalicelib.adapters.aws.step_functions import StepFunctionsWorkflow

        return StepFunctionsWorkflow(clients.client("stepfunctions"), self.config.state_machine_arn)

    @cached_property
    def agents(self) -> AgentBook:
        from chalicelib.adapters.agents import Agents, built_in

        return Agents(built_in(self.config.model_name if self.config.model_url else None), self.own_agents)

    @cached_property
    def own_agents(self) -> AgentStore:
        from chalicelib.adapters.dynamodb.agent_store import DynamoAgentStore

        return DynamoAgentStore(self._dynamodb, self.config.table, clock=self.clock, chance=self.chance)

    @property
    def reserved_agents(self) -> frozenset[str]:
        """Names that no account's own agent may have."""
        from chalicelib.adapters.agents import RESERVED

        return RESERVED

    @property
    def offer(self) -> Offer:
        """What agents can be made of here."""
        from chalicelib.core.recipe import Offer

        return Offer(frozenset({"scripted", "openai"} if self.config.model_url else {"scripted"}), self.config.laptop)

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

    @cached_property
    def toolboxes(self) -> Toolboxes:
        from chalicelib.adapters.dynamodb.payloads import keep_text
        from chalicelib.adapters.tools.boxes import Boxes
        from chalicelib.adapters.tools.guarded import Guards

        boxes = Boxes(self._built_in, functions=lambda: self._lambda_tools, servers=lambda: self._mcp_servers)
        return Guards(boxes, self.secrets, partial(keep_text, payloads=self._payloads))

    @property
    def _built_in(self) -> FunctionToolbox:
        from chalicelib.adapters.tools import http_get, notes, send_email, wait_until
        from chalicelib.adapters.tools.current_time import current_time
        from chalicelib.adapters.tools.toolbox import FunctionToolbox

        tools = [
            current_time(self.clock),
            http_get.http_get(self.web, self.clock, self.chance),
            notes.notes(self.notes, self.clock),
            wait_until.wait_until(),
            *([send_email.send_email(mailer, self.clock)] if (mailer := self._mailer) else []),
            *([self._run_code] if self.config.sandbox != "off" else []),
        ]
        looks = {
            http_get.SPEC.name: http_get.look,
            notes.SPEC.name: notes.look,
            wait_until.SPEC.name: wait_until.look(self.clock),
            send_email.SPEC.name: send_email.look,
        }
        return FunctionToolbox(tools, looks)

    @property
    def _run_code(self) -> Tool:
        from chalicelib.adapters.tools.run_code import run_code

        return run_code(self.sandbox, self._run_files, self.chance, self.config.sandbox_hosts)

    @property
    def built_in_specs(self) -> tuple[ToolSpec, ...]:
        """What rules may be about before an agent is known: every built-in tool, configured here or not."""
        from chalicelib.adapters.tools import current_time, http_get, notes, run_code, send_email, wait_until

        return tuple(tool.SPEC for tool in (current_time, http_get, notes, run_code, send_email, wait_until))

    @cached_property
    def notes(self) -> NoteStore:
        from chalicelib.adapters.dynamodb.note_store import DynamoNoteStore

        return DynamoNoteStore(self._dynamodb, self.config.table, clock=self.clock, chance=self.chance)

    @property
    def _mailer(self) -> Mailer | None:
        if self.config.email_from is None:
            return None
        if self.config.outbox is not None:
            from chalicelib.adapters.outbox import Outbox

            return Outbox(Path(self.config.outbox), self.config.email_from, self.clock)
        from chalicelib.adapters.aws import clients
        from chalicelib.adapters.aws.ses_mailer import SesMailer

        return SesMailer(lambda: clients.client("sesv2"), self.config.email_from)

    @cached_property
    def secrets(self) -> Secrets:
        return _LateSecrets(self._ssm_secrets)

    def _ssm_secrets(self) -> Secrets:
        from chalicelib.adapters.aws import clients
        from chalicelib.adapters.aws.retry import Retry
        from chalicelib.adapters.aws.secrets import ParameterSecrets

        return ParameterSecrets(clients.client("ssm"), self.config.secrets_prefix, Retry(self.clock, self.chance))

    @cached_property
    def _lambda_tools(self) -> LambdaTools:
        from chalicelib.adapters.aws import clients
        from chalicelib.adapters.tools.lambda_tool import LambdaTools

        return LambdaTools(clients.function_client, lambda: clients.client("sts"), self.clock)

    @cached_property
    def _mcp_servers(self) -> McpServers:
        from chalicelib.adapters.tools.mcp_servers import McpServers

        return McpServers(self.secrets.get, self.clock, loopback=self.config.laptop)

    @cached_property
    def sandbox(self) -> CodeSandbox:
        if self.config.sandbox != "lambda" or self.config.sandbox_function is None:
            from chalicelib.adapters.sandbox.choosing import sandbox_here

            return sandbox_here(self.config.sandbox, self.clock)
        from chalicelib.adapters.aws import clients
        from chalicelib.adapters.sandbox import wire
        from chalicelib.adapters.sandbox.aws_lambda import LambdaSandbox

        client = clients.function_client(wire.FUNCTION_SECONDS + 15, None)
        return LambdaSandbox(client, self.config.sandbox_function, self.clock)

    @cached_property
    def web(self) -> Web:
        from chalicelib.adapters.net.pinned_web import PinnedWeb

        return PinnedWeb()

    @cached_property
    def webhooks(self) -> WebhookStore:
        from chalicelib.adapters.dynamodb.webhook_store import DynamoWebhookStore

        return DynamoWebhookStore(self._dynamodb, self.config.table, clock=self.clock, chance=self.chance)

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

    @cached_property
    def _dynamodb(self) -> DynamoDBClient:
        from chalicelib.adapters.aws import clients

        return clients.client("dynamodb")

    @property
    def _run_files(self) -> RunFiles:
        from chalicelib.adapters.named_files import NamedFiles

        return NamedFiles(self.files, self.runs)

    @cached_property
    def _payloads(self) -> PayloadStore:
        return _LatePayloads(self._s3_payloads)

    def _s3_payloads(self) -> PayloadStore:
        from chalicelib.adapters.aws import clients
        from chalicelib.adapters.aws.payload_store import S3PayloadStore
        from chalicelib.adapters.aws.retry import Retry

        return S3PayloadStore(clients.client("s3"), self.config.bucket, Retry(self.clock, self.chance))

    @cached_property
    def ticket_secret(self) -> bytes:
        """What tickets are signed with. Raises `Unavailable` if there is none."""
        if self.config.ticket_secret is not None:
            return self.config.ticket_secret.encode()
        if self.config.ticket_secret_parameter is None:
            raise Unavailable("there is no secret to sign tickets with")
        return self._parameter(self.config.ticket_secret_parameter).encode()

    @cached_property
    def _files(self) -> FileBucket:
        from chalicelib.adapters.aws import clients
        from chalicelib.adapters.aws.file_bucket import FileBucket
        from chalicelib.adapters.aws.retry import Retry

        url, retry = self.config.s3_url, Retry(self.clock, self.chance)
        return FileBucket(lambda: clients.client("s3"), lambda: clients.signing(url), self.config.bucket, retry)

    @property
    def _model_key(self) -> str | None:
        name = self.config.model_key_parameter
        return self.config.model_key if name is None else self._parameter(name)

    def _parameter(self, name: str) -> str:
        from chalicelib.adapters.aws import clients
        from chalicelib.adapters.aws.retry import Retry

        ssm = clients.client("ssm")
        found = Retry(self.clock, self.chance)(lambda: ssm.get_parameter(Name=name, WithDecryption=True))
        return found["Parameter"]["Value"]


class _LatePayloads:
    """A payload store that is made when the first payload comes: every Lambda reads runs, and hardly a run has one."""

    def __init__(self, make: Callable[[], PayloadStore]) -> None:
        self._store = cache(make)

    def put(self, key: str, body: bytes) -> None:
        self._store().put(key, body)

    def get(self, key: str) -> bytes:
        return self._store().get(key)

    def first_under(self, prefix: str) -> str | None:
        return self._store().first_under(prefix)

    def delete_under(self, prefix: str) -> None:
        self._store().delete_under(prefix)


class _LateSecrets:
    """The same for secrets: every worker has tools, and hardly one of them needs any."""

    def __init__(self, make: Callable[[], Secrets]) -> None:
        self._secrets = cache(make)

    def get(self, account_id: str, name: str) -> str | None:
        return self._secrets().get(account_id, name)


@cache
def world() -> World:
    """The world that the environment describes."""
    return World(Config.from_env(os.environ))
