"""Signature Version 4 against AWS's own vectors.

The suite is described at https://docs.aws.amazon.com/general/latest/gr/signature-v4-test-suite.html and is published in
https://github.com/awslabs/aws-c-auth (tests/aws-signing-test-suite/v4). All of it is signed for us-east-1 and the
service named `service` on 30 August 2015 at 12:36 UTC. Its key is AWS's example.
"""

import hashlib
import re
from typing import NamedTuple
from urllib.parse import quote

import pytest

from claw_acp.core.secret import Secret
from claw_acp.net.aws_signature import AwsCredentials, Scope, canonical_request, signed_headers

HOST = {"host": "example.amazonaws.com"}
EXAMPLE = AwsCredentials(access_key="AKIDEXAMPLE", secret_key=Secret("wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"))
SUITE_TOKEN = (
    "AQoDYXdzEPT//////////wEXAMPLEtc764bNrC9SAPBSM22wDOk4x4HIZ8j4FZTwdQWLWsKWHGBuFqwAeMicRXmxfpSPfIeoIYRqTflfKD8YUuw"
    "thAx7mSEI/qkPpKPi/kMcGdQrmGdeehM4IC1NtBmUpp2wUE8phUZampKsburEDy0KPkyQDYwT7WZ0wq5VSXDvp75YU9HFvlRd8Tx6q6fE8YQcHNV"
    "XAkiY9q6d+xo0rKwT38xVqr7ZD0u0iPPkUL64lIZbqBAz+scqKmlzm8FDrypNC9Yjc8fPOLn9FX9KSYvKTr4rvx3iSIlTJabIQwj2ICCR/oLxBA="
    "="
)
SUITE_TIME = 1_440_938_160.0  # 2015-08-30T12:36:00Z
UNRESERVED = "-._~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
FORM = "application/x-www-form-urlencoded"
EMPTY = hashlib.sha256(b"").hexdigest()


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
        "get-header-key-duplicate",
        "/",
        "c9d5ea9f3f72853aea855b47ea873832890dbdd183b4468f858259531a5138ea",
        headers={"my-header1": "value2,value2,value1"},
    ),
    Vector(
        "get-header-value-order",
        "/",
        "08c7e5a9acfcfeb3ab6b2185e75ce8b1deb5e634ec47601a50643f830c755c01",
        headers={"my-header1": "value4,value1,value3,value2"},
    ),
    Vector(
        "get-header-value-trim",
        "/",
        "acc3ed3afb60bb290fc8d2dd0098b9911fcaa05412b367055dee359757a9c736",
        headers={"my-header1": " value1", "my-header2": ' "a   b   c"'},
    ),
    Vector(
        "get-vanilla-with-session-token",
        "/",
        "07ec1639c89043aa0e3e2de82b96708f198cceab042d4a97044c66dd9f74e7f8",
        token="6e86291e8372ff2a2260956d9b8aae1d763fbf315fa00fa31553b73ebf194267",
    ),
    Vector("post-vanilla", "/", POSTED, method="POST"),
    Vector("post-vanilla-query", "/?Param1=value1", QUERIED, method="POST"),
    Vector(
        "post-header-key-sort",
        "/",
        "c5410059b04c1ee005303aed430f6e6645f61f4dc9e1461ec8f8916fdf18852c",
        method="POST",
        headers={"my-header1": "value1"},
    ),
    Vector(
        "post-header-value-case",
        "/",
        "cdbc9802e29d2942e5e10b5bccfdd67c5f22c7c4e8ae67b53629efa58b974b7d",
        method="POST",
        headers={"my-header1": "VALUE1"},
    ),
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


@pytest.mark.parametrize("vector", VECTORS, ids=[vector.name for vector in VECTORS])
def test_a_request_of_the_published_suite_gets_its_published_signature(vector: Vector) -> None:
    credentials = EXAMPLE
    if vector.token:
        credentials = AwsCredentials(
            access_key=EXAMPLE.access_key, secret_key=EXAMPLE.secret_key, token=Secret(vector.token)
        )
    added = signed_headers(
        vector.method,
        f"https://example.amazonaws.com{vector.target}",
        headers={**HOST, **vector.headers},
        body=vector.body,
        credentials=credentials,
        scope=Scope(region="us-east-1", service="service"),
        now=SUITE_TIME,
    )
    token = {"x-amz-security-token"} if vector.token else set[str]()
    names = ";".join(sorted({"host", "x-amz-date", *vector.headers, *token}))
    assert added["authorization"] == (
        "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request, "
        f"SignedHeaders={names}, Signature={vector.signature}"
    )
    assert added["x-amz-date"] == "20150830T123600Z"


def test_a_model_with_a_colon_is_encoded_once_to_be_sent_and_twice_to_be_signed() -> None:
    """https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-create-signed-request.html, canonical URI."""
    model = quote("arn:aws:bedrock:us-west-2:123456789012:inference-profile/us.x.y-v1:0", safe="")
    request = canonical_request("POST", f"https://h/model/{model}/converse-stream", headers={"host": "h"}, body=b"")
    arn = "arn%253Aaws%253Abedrock%253Aus-west-2%253A123456789012%253Ainference-profile%252Fus.x.y-v1%253A0"
    assert request.split("\n") == [
        "POST",
        f"/model/{arn}/converse-stream",
        "",
        "host:h",
        "",
        "host",
        EMPTY,
    ]


@pytest.mark.parametrize(
    "change", [{"body": b"x"}, {"now": SUITE_TIME + 1}, {"method": "PUT"}, {"url": "https://example.amazonaws.com/x"}]
)
def test_whatever_is_changed_changes_the_signature(change: dict[str, object]) -> None:
    given: dict[str, object] = {
        "method": "GET",
        "url": "https://example.amazonaws.com/",
        "headers": HOST,
        "body": b"",
        "credentials": EXAMPLE,
        "scope": Scope(region="us-east-1", service="service"),
        "now": SUITE_TIME,
    }
    changed = {**given, **change}
    method, url = str(changed.pop("method")), str(changed.pop("url"))
    added = signed_headers(method, url, **changed)  # pyright: ignore[reportArgumentType]
    signature = re.search(r"Signature=([0-9a-f]{64})$", added["authorization"])
    assert signature
    assert signature[1] != VANILLA


def test_headers_that_others_may_change_on_the_way_are_not_signed() -> None:
    added = signed_headers(
        "GET",
        "https://example.amazonaws.com/",
        headers={**HOST, "user-agent": "x", "accept": "*/*", "content-length": "0", "connection": "keep-alive"},
        body=b"",
        credentials=EXAMPLE,
        scope=Scope(region="us-east-1", service="service"),
        now=SUITE_TIME,
    )
    assert added["authorization"].endswith(f"SignedHeaders=host;x-amz-date, Signature={VANILLA}")
