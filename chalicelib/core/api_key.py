"""API keys: what the runtime knows of one, which is never its secret."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from chalicelib.core.errors import Forbidden, InvalidInput, Unauthenticated


class Scope(StrEnum):
    """What a key may do. `admin` makes and revokes keys; it does not include the others."""

    READ = "read"
    RUN = "run"
    APPROVE = "approve"
    ADMIN = "admin"


@dataclass(frozen=True, slots=True)
class ApiKey:
    """`digest` is the SHA-256 of the secret in hex; `key_id` is safe to show."""

    key_id: str
    digest: str
    account_id: str
    name: str
    scopes: frozenset[Scope]
    created_at: datetime
    revoked_at: datetime | None = None


PREFIX = "pawl_"
MAX_NAME = 100
_KEY_ID = re.compile(r"key_[A-Za-z0-9_-]{1,64}")


def secret(chance: bytes) -> str:
    """A new key's secret out of 32 unpredictable bytes; the prefix lets secret scanners know it."""
    return PREFIX + chance.hex()


def bearer(header: str) -> str:
    """The secret that an Authorization header carries. Raises `Unauthenticated`."""
    scheme, _, secret = header.strip().partition(" ")
    if scheme.lower() != "bearer" or not secret.strip():
        raise Unauthenticated("unauthenticated", "send an API key as: Authorization: Bearer KEY")
    return secret.strip()


def permit(scopes: frozenset[Scope], needs: Scope) -> None:
    """Raises `Forbidden` if a key of these scopes may not do what needs that one."""
    if needs not in scopes:
        raise Forbidden("scope_missing", f"this key does not have the scope {needs}", expected=needs)


def digest(secret: str) -> str:
    """What is kept of a secret. A plain hash is enough: the secret is 256 bits of chance, not a word of somebody's."""
    return hashlib.sha256(secret.encode()).hexdigest()


def key_id(chance: bytes) -> str:
    """The id under which a key is listed and revoked."""
    return "key_" + chance.hex()


def is_key_id(text: str) -> bool:
    """Whether a key could have that id."""
    return _KEY_ID.fullmatch(text) is not None


def check(name: str, scopes: frozenset[Scope]) -> None:
    """What a new key must have. Raises `InvalidInput`."""
    if not name.strip():
        raise InvalidInput("text_empty", "a key needs a name to be known by", field="name", expected="some text")
    if len(name) > MAX_NAME:
        expected = f"at most {MAX_NAME} characters"
        raise InvalidInput("text_too_long", f"it has {len(name)} characters", field="name", expected=expected)
    if not scopes:
        expected = f"at least one of: {', '.join(Scope)}"
        raise InvalidInput("invalid_scopes", "a key without scopes can do nothing", field="scopes", expected=expected)
