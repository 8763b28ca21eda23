"""The first API key of a deployment, which no API key could ask for: made with AWS credentials, right in the table.

    python -m infra.first_key --table TABLE [--account default] [--name first] [--scope admin ...]

TABLE is the stack's output. The secret goes to the standard output, once; everything else to the standard error.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from chalicelib.adapters.aws.clients import client
from chalicelib.adapters.dynamodb.key_store import DynamoKeyStore
from chalicelib.adapters.system import SystemChance, SystemClock
from chalicelib.core.api_key import Scope
from chalicelib.core.errors import InvalidInput
from chalicelib.usecases.make_key import make_key


def main(arguments: Sequence[str] | None = None) -> int:
    """Make a key; the exit code."""
    asked = _parser().parse_args(arguments)
    clock, chance = SystemClock(), SystemChance()
    keys = DynamoKeyStore(client("dynamodb"), asked.table, clock=clock, chance=chance)
    scopes = frozenset(asked.scope or [Scope.ADMIN])
    try:
        key, secret = make_key(asked.name, scopes, account_id=asked.account, keys=keys, clock=clock, chance=chance)
    except InvalidInput as refusal:
        print(f"{refusal.field}: {refusal.detail}", file=sys.stderr)
        return 2
    print(f"{key.key_id} of account {key.account_id} may: {', '.join(sorted(scopes))}", file=sys.stderr)
    print(secret)
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m infra.first_key", description="Make an API key with AWS credentials."
    )
    parser.add_argument("--table", required=True, help="the stack's output Table")
    parser.add_argument("--account", default="default", help="whose key it is (default: %(default)s)")
    parser.add_argument("--name", default="first", help="what the key is known by (default: %(default)s)")
    parser.add_argument(
        "--scope", action="append", type=Scope, choices=[*Scope], help="may be repeated (default: admin)"
    )
    return parser


if __name__ == "__main__":
    sys.exit(main())
