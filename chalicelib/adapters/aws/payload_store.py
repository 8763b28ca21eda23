"""Payloads in S3."""

from __future__ import annotations

from typing import TYPE_CHECKING

from botocore.exceptions import ClientError

from chalicelib.adapters.aws.retry import Retry

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client


class S3PayloadStore:
    """A `PayloadStore`."""

    def __init__(self, client: S3Client, bucket: str, retry: Retry) -> None:
        self._client = client
        self._bucket = bucket
        self._retry = retry

    def put(self, key: str, body: bytes) -> None:
        self._retry(
            lambda: self._client.put_object(Bucket=self._bucket, Key=key, Body=body, ContentType="application/json")
        )

    def get(self, key: str) -> bytes:
        try:
            return self._retry(lambda: self._client.get_object(Bucket=self._bucket, Key=key)["Body"].read())
        except ClientError as fault:
            if fault.response["Error"]["Code"] == "NoSuchKey":
                raise KeyError(key) from fault
            raise

    def first_under(self, prefix: str) -> str | None:
        found = self._retry(lambda: self._client.list_objects_v2(Bucket=self._bucket, Prefix=prefix, MaxKeys=1))
        return next((each["Key"] for each in found.get("Contents", [])), None)

    def delete_under(self, prefix: str) -> None:
        while found := self._retry(lambda: self._client.list_objects_v2(Bucket=self._bucket, Prefix=prefix)).get(
            "Contents"
        ):
            for each in found:
                self._delete(each["Key"])

    def _delete(self, key: str) -> None:
        self._retry(lambda: self._client.delete_object(Bucket=self._bucket, Key=key))
