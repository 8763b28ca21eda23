"""Files in S3: uploads under `files/`, those of runs under `run-files/`. S3 itself holds an upload to its form."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING
from urllib.parse import quote

from botocore.exceptions import ClientError

from chalicelib.adapters.aws.retry import Retry
from chalicelib.core.tools import FileRef
from chalicelib.ports.upload_store import Form

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client

UPLOADS = "files/"
_GONE = ("NoSuchKey", "404")


class FileBucket:
    """Its clients are made when they are first needed, since hardly a run has a file.

    `outside` makes one of the endpoint by which callers reach S3; it only signs what they will send.
    """

    def __init__(
        self, inside: Callable[[], S3Client], outside: Callable[[], S3Client], bucket: str, retry: Retry
    ) -> None:
        self._make_inside, self._make_outside = inside, outside
        self._bucket = bucket
        self._retry = retry

    def form(self, account_id: str, file: FileRef, seconds: int) -> Form:
        """The form by which the upload is put: its size and type are part of what is signed."""
        conditions = [{"Content-Type": file.media_type}, ["content-length-range", file.size, file.size]]
        signed = self._outside.generate_presigned_post(
            Bucket=self._bucket,
            Key=upload_key(account_id, file.file_id),
            Fields={"Content-Type": file.media_type},
            Conditions=conditions,
            ExpiresIn=seconds,
        )
        return Form(signed["url"], signed["fields"])

    def link(self, run_id: str, file: FileRef, seconds: int) -> str:
        """A download of the run's file, never shown in place."""
        asked = {
            "Bucket": self._bucket,
            "Key": run_key(run_id, file.file_id),
            "ResponseContentType": file.media_type,
            "ResponseContentDisposition": f"attachment; filename*=UTF-8''{quote(file.name, safe='')}",
        }
        return self._outside.generate_presigned_url("get_object", Params=asked, ExpiresIn=seconds)

    def size(self, key: str) -> int | None:
        """In bytes; None if nothing is there."""
        try:
            return self._retry(lambda: self._client.head_object(Bucket=self._bucket, Key=key))["ContentLength"]
        except ClientError as fault:
            if fault.response["Error"]["Code"] in _GONE:
                return None
            raise

    def copy(self, source: str, key: str) -> None:
        """Raises `KeyError` if nothing is at `source`."""
        try:
            self._retry(
                lambda: self._client.copy_object(
                    Bucket=self._bucket, Key=key, CopySource={"Bucket": self._bucket, "Key": source}
                )
            )
        except ClientError as fault:
            raise _key_error(fault, source) from fault

    def put(self, key: str, body: bytes, media_type: str) -> None:
        self._retry(lambda: self._client.put_object(Bucket=self._bucket, Key=key, Body=body, ContentType=media_type))

    def get(self, key: str) -> bytes:
        """Raises `KeyError`."""
        try:
            return self._retry(lambda: self._client.get_object(Bucket=self._bucket, Key=key)["Body"].read())
        except ClientError as fault:
            raise _key_error(fault, key) from fault

    def delete(self, key: str) -> None:
        self._retry(lambda: self._client.delete_object(Bucket=self._bucket, Key=key))

    def delete_under(self, prefix: str) -> None:
        """Delete everything whose key begins with `prefix`."""
        while found := self._retry(lambda: self._client.list_objects_v2(Bucket=self._bucket, Prefix=prefix)).get(
            "Contents"
        ):
            for each in found:
                self.delete(each["Key"])

    @cached_property
    def _client(self) -> S3Client:
        return self._make_inside()

    @cached_property
    def _outside(self) -> S3Client:
        return self._make_outside()


def upload_key(account_id: str, file_id: str) -> str:
    return f"{UPLOADS}{account_id}/{file_id}"


def run_key(run_id: str, file_id: str) -> str:
    return f"{run_prefix(run_id)}{file_id}"


def run_prefix(run_id: str) -> str:
    """What the keys of all the run's files begin with."""
    return f"run-files/{run_id}/"


def _key_error(fault: ClientError, key: str) -> Exception:
    return KeyError(key) if fault.response["Error"]["Code"] in _GONE else fault
