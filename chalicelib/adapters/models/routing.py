"""Which provider answers: an agent's model is `<provider>:<name>`, and the provider's adapter is asked for `<name>`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from chalicelib.core.errors import ModelRefused
from chalicelib.core.reply import Reply
from chalicelib.ports.model import Model, ModelCall, ModelRequest


class RoutedModel:
    """Every model that is configured, as one."""

    def __init__(self, providers: Mapping[str, Model]) -> None:
        self._providers = dict(providers)

    def call(self, request: ModelRequest) -> ModelCall:
        provider, _, name = request.model.partition(":")
        model = self._providers.get(provider)
        if model is None or not name:
            return RefusedCall(f"no provider is configured for the model {request.model!r}")
        return model.call(replace(request, model=name))


class RefusedCall:
    """A call that is refused before anybody is asked; like every call, it says so only when its chunks are wanted."""

    def __init__(self, why: str) -> None:
        self._why = why

    def chunks(self) -> Iterator[str | Reply]:
        raise ModelRefused(self._why)

    def close(self) -> None:
        """There is nothing to break off."""
