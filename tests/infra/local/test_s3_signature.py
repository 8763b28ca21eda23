"""What was signed counts for a while: S3's clock, turned by hand."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import boto3
import pytest
from botocore.config import Config
from botocore.credentials import Credentials

from infra.local.s3_signature import Denied, check_form, check_link

REGION = "us-east-1"
LOCAL = Credentials("local", "secret", "token")
MINUTE = timedelta(minutes=1)
CLIENT = boto3.client(
    "s3",
    REGION,
    endpoint_url="http://127.0.0.1:9/s3",
    aws_access_key_id=LOCAL.access_key,
    aws_secret_access_key=LOCAL.secret_key,
    aws_session_token=LOCAL.token,
    config=Config(signature_version="s3v4", s3={"addressing_style": "path"}),
)


def test_a_link_counts_until_its_time_is_over() -> None:
    link = CLIENT.generate_presigned_url("get_object", Params={"Bucket": "b", "Key": "k ü/x"}, ExpiresIn=300)
    now = datetime.now(UTC)

    check_link(link, LOCAL, REGION, now + 4 * MINUTE)

    with pytest.raises(Denied, match="expired"):
        check_link(link, LOCAL, REGION, now + 6 * MINUTE)


def test_a_form_counts_until_its_time_is_over() -> None:
    form = CLIENT.generate_presigned_post("b", "k", ExpiresIn=300)["fields"]
    now = datetime.now(UTC)

    check_form(form, "b", 1, LOCAL, REGION, now + 4 * MINUTE)

    with pytest.raises(Denied, match="expired"):
        check_form(form, "b", 1, LOCAL, REGION, now + 6 * MINUTE)
