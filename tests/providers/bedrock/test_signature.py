"""Signature Version 4 as it leaves for Bedrock, against AWS's own vectors.

The suite is described at https://docs.aws.amazon.com/general/latest/gr/signature-v4-test-suite.html and is published in
https://github.com/awslabs/aws-c-auth (tests/aws-signing-test-suite/v4). All of it is signed for us-east-1 and the
service named `service` on 30 August 2015 at 12:36 UTC. Its key is AWS's example. The vectors with headers that we never
sign are left out.
"""

from datetime import datetime
from typing import NamedTuple

import botocore.auth
import httpx
import pytest

from claw_acp.providers.bedrock import session as bedrock_session
from claw_acp.providers.bedrock.session import AwsSession

HOST = {"host": "example.amazonaws.com"}
EXAMPLE = {"AWS_ACCESS_KEY_ID": "AKIDEXAMPLE", "AWS_SECRET_ACCESS_KEY": "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"}
SUITE_TOKEN = (
    "AQoDYXdzEPT//////////wEXAMPLEtc764bNrC9SAPBSM22wDOk4x4HIZ8j4FZTwdQWLWsKWHGBuFqwAeMicRXmxfpSPfIeoIYRqTflfKD8YUuw"
    "thAx7mSEI/qkPpKPi/kMcGdQrmGdeehM4IC1NtBmUpp2wUE8phUZampKsburEDy0KPkyQDYwT7WZ0wq5VSXDvp75YU9HFvlRd8Tx6q6fE8YQcHNV"
    "XAkiY9q6d+xo0rKwT38xVqr7ZD0u0iPPkUL64lIZbqBAz+scqKmlzm8FDrypNC9Yjc8fPOLn9FX9KSYvKTr4rvx3iSIlTJabIQwj2ICCR/oLxBA="
    "="
)
SUITE_TIME = datetime(2015, 8, 30, 12, 36)  # noqa: DTZ001 - as botocore has it
UNRESERVED = "-._~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
FORM = "application/x-www-form-urlencoded"


class Vector(NamedTuple):
    name: str
    target: str
    signature: str
    method: str = "GET"
    headers: dict[str, str] = {}  # noqa: RUF012 - never changed
    body: bytes = b""
    token: str = ""


VANILLA = "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31"
POSTED = "5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b"
ORDERED = "b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500"
QUERIED = "28038455d6de14eafc1f9222cf5aa6f1a96197d7deb8263271d420d138af7f11"

VECTORS = (
    Vector("get-vanilla", "/", VANILLA),
    Vector("get-vanilla-query", "/", VANILLA),
    Vector("get-vanilla-query-order-key-case", "/?Param2=value2&Param1=value1", ORDERED),
    Vector(
        "get-vanilla-empty-query-key",
        "/?Param1=value1",
        "a67d582fa61cc504c4bae71f336f98b97f1ea3c7a6bfe1b6e45aec72011b9aeb",
    ),
    Vector(
        "get-vanilla-query-unreserved",
        f"/?{UNRESERVED}={UNRESERVED}",
        "9c3e54bfcdf0b19771a7f523ee5669cdf59bc7cc0884027167c21bb143a40197",
    ),
    Vector("get-vanilla-utf8-query", "/?ሴ=bar", "2cdec8eed098649ff3a119c94853b13c643bcf08f8b0a1d91e12c9027818dd04"),
    Vector("get-unreserved", f"/{UNRESERVED}", "07ef7494c76fa4850883e2b006601f940f8a34d404d0cfa977f52a65bbf5f24f"),
    Vector("get-utf8", "/ሴ", "8318018e0b0f223aa2bbf98705b62bb787dc9c0e678f255a891fd03141be5d85"),
    Vector("get-space", "/example space/", "652487583200325589f1fba4c7e578f72c47cb61beeca81406b39ddec1366741"),
    Vector("get-slash", "//", VANILLA),
    Vector("get-relative", "/example/..", VANILLA),
    Vector("get-relative-relative", "/example1/example2/../..", VANILLA),
    Vector("get-slash-dot-slash", "/./", VANILLA),
    Vector("get-slashes", "//example//", "9a624bd73a37c9a373b5312afbebe7a714a789de108f0bdfe846570885f57e84"),
    Vector(
        "get-vanilla-with-session-token",
        "/",
        "07ec1639c89043aa0e3e2de82b96708f198cceab042d4a97044c66dd9f74e7f8",
        token="6e86291e8372ff2a2260956d9b8aae1d763fbf315fa00fa31553b73ebf194267",
    ),
    Vector("post-vanilla", "/", POSTED, method="POST"),
    Vector("post-vanilla-query", "/?Param1=value1", QUERIED, method="POST"),
    Vector(
        "post-x-www-form-urlencoded",
        "/",
        "ff11897932ad3f4e8b18135d722051e5ac45fc38421b1da7b9d196a0fe09473a",
        method="POST",
        headers={"content-type": FORM},
        body=b"Param1=value1",
    ),
    Vector(
        "post-x-www-form-urlencoded-parameters",
        "/",
        "1a72ec8f64bd914b0e42e42607c7fbce7fb2c7465f63e3092b3b0d39fa77a6fe",
        method="POST",
        headers={"content-type": f"{FORM}; charset=utf8"},
        body=b"Param1=value1",
    ),
    Vector(
        "post-sts-header-before",
        "/",
        "85d96828115b5dc0cfc3bd16ad9e210dd772bbebba041836c64533a82be05ead",
        method="POST",
        token=SUITE_TOKEN,
    ),
)


@pytest.fixture(autouse=True)
def _as_in_the_suite(monkeypatch: pytest.MonkeyPatch) -> None:  # pyright: ignore[reportUnusedFunction]
    monkeypatch.setattr(bedrock_session, "SERVICE", "service")
    monkeypatch.setattr(botocore.auth, "get_current_datetime", lambda: SUITE_TIME)


def signed(vector: Vector) -> dict[str, str]:
    environ = {**EXAMPLE, "AWS_SESSION_TOKEN": vector.token}
    path, mark, query = vector.target.partition("?")
    query = httpx.URL(f"https://h/?{query}").query.decode() if mark else ""
    return AwsSession(environ, provider="bedrock", region="us-east-1").sign(
        vector.method,
        f"https://example.amazonaws.com{path}{mark}{query}",
        headers={**HOST, **vector.headers},
        body=vector.body,
        region="us-east-1",
    )


@pytest.mark.parametrize("vector", VECTORS, ids=[vector.name for vector in VECTORS])
def test_a_request_of_the_published_suite_gets_its_published_signature(vector: Vector) -> None:
    added = signed(vector)
    token = {"x-amz-security-token"} if vector.token else set[str]()
    names = ";".join(sorted({"host", "x-amz-date", *vector.headers, *token}))
    assert added["authorization"] == (
        "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request, "
        f"SignedHeaders={names}, Signature={vector.signature}"
    )
    assert added["x-amz-date"] == "20150830T123600Z"


def test_headers_that_others_may_change_on_the_way_are_not_signed() -> None:
    sent = {"user-agent": "x", "accept": "*/*", "accept-encoding": "identity", "content-length": "0", "x-trace": "1"}
    added = signed(Vector("plain", "/", VANILLA, headers=sent))
    assert added["authorization"].endswith(f"SignedHeaders=host;x-amz-date, Signature={VANILLA}")
