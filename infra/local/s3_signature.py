"""What a caller of S3 may do, by what was signed for it: S3 has nothing else to go by, and neither has its stand-in."""

from __future__ import annotations

import base64
import hmac
import json
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import parse_qsl, urlsplit, urlunsplit

from botocore.auth import S3SigV4QueryAuth, SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials

SIGNATURE = "X-Amz-Signature"
NOT_SIGNED_FOR = frozenset({"policy", "x-amz-signature", "file"})
"""Fields of a form that no condition needs to speak of."""


class Denied(Exception):  # noqa: N818 - named by what happened
    """S3's answer to what nobody signed for."""

    def __init__(self, code: str, message: str, status: int = 403) -> None:
        super().__init__(message)
        self.code, self.message, self.status = code, message, status


def check_link(url: str, credentials: Credentials, region: str, now: datetime) -> None:
    """A presigned GET. Raises `Denied`."""
    parts = urlsplit(url)
    query = dict(parse_qsl(parts.query, keep_blank_values=True))
    try:
        given, seconds = query.pop(SIGNATURE), int(query["X-Amz-Expires"])
        signed_at = datetime.strptime(query["X-Amz-Date"], "%Y%m%dT%H%M%SZ").replace(tzinfo=UTC)
    except (KeyError, ValueError):
        raise Denied("AccessDenied", "Access Denied") from None
    kept = "&".join(each for each in parts.query.split("&") if not each.startswith(f"{SIGNATURE}="))
    request = AWSRequest("GET", urlunsplit(parts._replace(query=kept)))
    request.context["timestamp"] = query["X-Amz-Date"]
    auth = S3SigV4QueryAuth(credentials, "s3", region, seconds)
    wanted = auth.signature(auth.string_to_sign(request, auth.canonical_request(request)), request)
    if not hmac.compare_digest(given, wanted):
        raise Denied("SignatureDoesNotMatch", "The signature does not match")
    if now >= signed_at + timedelta(seconds=seconds):
        raise Denied("AccessDenied", "Request has expired")


def check_form(
    fields: Mapping[str, str], bucket: str, size: int, credentials: Credentials, region: str, now: datetime
) -> None:
    """A POST of a form, and a file of `size` bytes. Raises `Denied`."""
    given = {name.lower(): value for name, value in fields.items()}
    try:
        policy = json.loads(base64.b64decode(given["policy"]))
        request = AWSRequest("POST", "https://s3/")
        request.context["timestamp"] = given["x-amz-date"]
        signature = SigV4Auth(credentials, "s3", region).signature(given["policy"], request)
        until = datetime.fromisoformat(policy["expiration"])
    except (KeyError, ValueError):
        raise Denied("AccessDenied", "Access Denied") from None
    if not hmac.compare_digest(given.get("x-amz-signature", ""), signature):
        raise Denied("SignatureDoesNotMatch", "The signature does not match")
    if now >= until:
        raise Denied("AccessDenied", "Invalid according to Policy: Policy expired.")
    _check_conditions(policy["conditions"], {**given, "bucket": bucket}, size)


def _check_conditions(conditions: list[Any], given: Mapping[str, str], size: int) -> None:
    spoken_of = {"bucket", *NOT_SIGNED_FOR}
    for condition in conditions:
        if isinstance(condition, list) and condition[0] == "content-length-range":
            _check_size(size, condition[1], condition[2])
            continue
        [(name, wanted)] = condition.items()
        if given.get(name.lower()) != wanted:
            raise Denied("AccessDenied", f"Invalid according to Policy: Policy Condition failed: {name}")
        spoken_of.add(name.lower())
    if extra := sorted(given.keys() - spoken_of):
        raise Denied("AccessDenied", f"Invalid according to Policy: Extra input fields: {extra[0]}")


def _check_size(size: int, least: int, most: int) -> None:
    if size < least:
        raise Denied("EntityTooSmall", "Your proposed upload is smaller than the minimum allowed size", 400)
    if size > most:
        raise Denied("EntityTooLarge", "Your proposed upload exceeds the maximum allowed size", 400)
