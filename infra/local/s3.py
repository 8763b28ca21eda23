"""Word of what is put into S3 and deleted from it. Bodies only: nothing of ours reads an object's metadata."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

from moto.s3.models import S3Backend

from infra.local.overrides import override

Changed = Callable[[str, str, bytes | None], None]
"""Told of a bucket, a key, and the body that stands there now."""


@contextmanager
def in_force(changed: Changed) -> Iterator[None]:
    """moto tells of every change before it answers, for as long as the block lasts."""
    put, delete = S3Backend.put_object, S3Backend.delete_object

    def put_object(backend: S3Backend, bucket_name: str, key_name: str, value: bytes, *args: Any, **more: Any) -> Any:
        stored = put(backend, bucket_name, key_name, value, *args, **more)
        changed(bucket_name, key_name, value)
        return stored

    def delete_object(backend: S3Backend, bucket_name: str, key_name: str, *args: Any, **more: Any) -> Any:
        deleted = delete(backend, bucket_name, key_name, *args, **more)
        changed(bucket_name, key_name, None)
        return deleted

    with ExitStack() as stack:
        stack.enter_context(override(S3Backend, "put_object", put_object))
        stack.enter_context(override(S3Backend, "delete_object", delete_object))
        yield
