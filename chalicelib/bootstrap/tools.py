"""The tools of runs, and what they work with."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING

from chalicelib.bootstrap.stores import Stores

if TYPE_CHECKING:
    from chalicelib.adapters.tools.lambda_tool import LambdaTools
    from chalicelib.adapters.tools.mcp_servers import McpServers
    from chalicelib.adapters.tools.toolbox import FunctionToolbox, Tool
    from chalicelib.core.tools import ToolSpec
    from chalicelib.ports.code_sandbox import CodeSandbox
    from chalicelib.ports.mailer import Mailer
    from chalicelib.ports.run_files import RunFiles
    from chalicelib.ports.secrets import Secrets
    from chalicelib.ports.toolbox import Toolboxes
    from chalicelib.ports.web import Web


class Tools(Stores):
    """The part of the world that runs act through."""

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

    @property
    def _run_files(self) -> RunFiles:
        from chalicelib.adapters.named_files import NamedFiles

        return NamedFiles(self.files, self.runs)

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


class _LateSecrets:
    """The same for secrets: every worker has tools, and hardly one of them needs any."""

    def __init__(self, make: Callable[[], Secrets]) -> None:
        self._secrets = cache(make)

    def get(self, account_id: str, name: str) -> str | None:
        return self._secrets().get(account_id, name)
