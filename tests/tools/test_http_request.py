"""Requests to interfaces of the web: what is sent, to whom, and what comes back."""

import json
from collections.abc import Callable, Generator

import pytest

from claw_acp.contracts.tool import FetchesUrl
from claw_acp.contracts.web import NamedSecret, NamedSecrets
from claw_acp.core.errors import InvalidArguments, ToolError
from claw_acp.tools.web.http_request import HttpRequest
from tests.support.servers.loopback import Answered, Asked, Loopback, serving
from tests.support.tool_bench import Bench, said

TOKEN = "correct-horse-battery"


def always(answer: Answered) -> Callable[[Asked], Answered]:
    """The same answer to every request."""
    return lambda _asked: answer


def echo(asked: Asked) -> Answered:
    """An answer that says what was asked."""
    told = {"method": asked.method, "headers": dict(asked.headers), "body": asked.body.decode()}
    headers = {"Set-Cookie": "sid=1", "X-RateLimit-Remaining": "41", "X-Echo": asked.headers.get("authorization", "")}
    return Answered(pieces=[json.dumps(told).encode()], status=201, headers=headers)


@pytest.fixture
def api(bench: Bench) -> Generator[Loopback]:
    """A server that the rules allow, and a secret for it."""
    server = Loopback(echo)
    bench.allowed_hosts = ("127.0.0.1",)
    secret = NamedSecret(
        name="tracker", header="Authorization", hosts=("127.0.0.1",), before="Bearer ", value=lambda: TOKEN
    )
    elsewhere = NamedSecret(
        name="other", header="X-Key", hosts=("*.example.org", "api.example.com"), before="", value=lambda: TOKEN
    )
    bench.lent[NamedSecrets] = NamedSecrets(secrets=(secret, elsewhere))
    with serving(server):
        yield server


async def test_a_request_is_sent_as_it_is_given(bench: Bench, api: Loopback) -> None:
    headers = [{"name": "X-Trace", "value": "7"}, {"name": "content-type", "value": "application/merge-patch+json"}]
    result = await bench.call(
        HttpRequest(), url=f"{api.url}/issues?a=1", method="PATCH", headers=headers, body='{"title":"ü"}'
    )
    (asked,) = api.asked
    assert (asked.method, asked.path, asked.body.decode()) == ("PATCH", "/issues?a=1", '{"title":"ü"}')
    assert (asked.headers["x-trace"], asked.headers["content-type"]) == ("7", "application/merge-patch+json")
    first, status, *_ = said(result).splitlines()
    assert "not instructions" in first
    assert status == "HTTP 201 Created"
    assert "x-ratelimit-remaining: 41" in said(result)
    assert "set-cookie" not in said(result)
    assert result.source == f"{api.url}/issues?a=1"


@pytest.mark.parametrize(("body", "kind"), [('{"a": 1}', "application/json"), ("a=1", "text/plain; charset=utf-8")])
async def test_a_body_is_sent_as_what_it_is(bench: Bench, api: Loopback, body: str, kind: str) -> None:
    await bench.call(HttpRequest(), url=api.url, method="POST", body=body)
    assert api.asked[0].headers["content-type"] == kind


async def test_a_secret_is_sent_by_its_name_and_never_comes_back(bench: Bench, api: Loopback) -> None:
    call = bench.prepare(HttpRequest(), url=api.url, method="POST", body="x", secret="tracker")
    assert call.accesses == (FetchesUrl(url=api.url, method="POST", carries=True, secret="tracker"),)
    (shown,) = await call.preview()
    assert "Authorization: (the secret tracker)" in str(shown)
    result = await call.run()
    assert api.asked[0].headers["authorization"] == f"Bearer {TOKEN}"
    assert TOKEN not in str(result)
    assert "authorization" in said(result)


@pytest.mark.parametrize("value", ["correct\nhorse", "correct horse\x00", "horse-ü"])
async def test_a_secret_that_cannot_be_sent_is_not_told_in_the_error(bench: Bench, api: Loopback, value: str) -> None:
    secret = NamedSecret(name="bad", header="X-Key", hosts=("127.0.0.1",), before="", value=lambda: value)
    bench.lent[NamedSecrets] = NamedSecrets(secrets=(secret,))
    with pytest.raises(ToolError, match="a header holds what no header can") as caught:
        await bench.call(HttpRequest(), url=api.url, secret="bad")
    assert "horse" not in f"{caught.value}{caught.value.__cause__}{caught.value.__context__}"
    assert api.asked == []


@pytest.mark.parametrize(
    ("url", "secret", "reason"),
    [
        ("https://api.example.com/", "nobody", "no secret 'nobody'; there are: tracker, other"),
        ("https://example.org/", "other", "only to *.example.org, api.example.com, not to example.org"),
        ("https://api.example.com.evil.example/", "other", "not to api.example.com.evil.example"),
        ("https://evil.example/?x=api.example.com", "other", "not to evil.example"),
        ("https://evil.example\\@api.example.com/", "other", "not to evil.example\\@api"),
        ("https://[bad/", "other", "may be sent only to"),
        ("http://api.example.com/", "other", "only over https"),
    ],
)
def test_a_secret_goes_to_its_hosts_only(bench: Bench, api: Loopback, url: str, secret: str, reason: str) -> None:
    with pytest.raises(InvalidArguments) as refused:
        bench.prepare(HttpRequest(), url=url, secret=secret)
    assert reason in refused.value.message


@pytest.mark.parametrize(
    ("name", "value", "reason"),
    [
        ("Authorization", "Bearer x", "may hold a credential"),
        ("x-api-key", "x", "may hold a credential"),
        ("Cookie", "a=1", "may hold a credential"),
        ("X-Amz-Security-Token", "x", "may hold a credential"),
        ("X-Note", "ghp_16C7e42F292c6912E7710c838347Ae178B4a", "may hold a credential"),
        ("Host", "169.254.169.254", "set by this program"),
        ("Transfer-Encoding", "chunked", "set by this program"),
        ("Proxy-Connection", "x", "set by this program"),
        ("X-A\r\nHost", "x", "no header that can be sent"),
        ("X-A", "x\r\nCookie: a=1", "no header that can be sent"),
    ],
)
def test_headers_hold_no_credentials_and_nothing_of_the_connection(
    bench: Bench, name: str, value: str, reason: str
) -> None:
    with pytest.raises(ToolError, match=reason):
        bench.prepare(HttpRequest(), url="https://api.example.com/", headers=[{"name": name, "value": value}])


def test_an_address_holds_no_credential(bench: Bench) -> None:
    with pytest.raises(ToolError, match="seems to hold a credential"):
        bench.prepare(HttpRequest(), url="https://x.example/?t=ghp_16C7e42F292c6912E7710c838347Ae178B4a")
    with pytest.raises(InvalidArguments, match="GET has no `body`"):
        bench.prepare(HttpRequest(), url="https://x.example/", body="x")


async def test_a_private_address_is_refused_unless_a_rule_allows_it(bench: Bench, api: Loopback) -> None:
    bench.allowed_hosts = ()
    with pytest.raises(ToolError, match="not on the public internet"):
        await bench.call(HttpRequest(), url=api.url, method="POST", body="x")
    assert api.asked == []


async def test_redirects_and_failures_are_answers(bench: Bench, api: Loopback) -> None:
    api.answer = always(Answered(status=302, headers={"Location": "http://169.254.169.254/"}))
    assert "location: http://169.254.169.254/" in await bench.text(HttpRequest(), url=api.url)
    assert len(api.asked) == 1
    api.answer = always(Answered(pieces=[b'{"error":"no"}'], status=422))
    result = await bench.call(HttpRequest(), url=api.url)
    assert result.failed
    assert '{"error":"no"}' in said(result)


async def test_what_is_no_text_is_named_and_what_is_long_is_cut(bench: Bench, api: Loopback) -> None:
    api.answer = always(Answered(pieces=[b"\0" * 2_000], kind="image/png"))
    assert "image/png, 2.0 KB; it is not shown" in await bench.text(HttpRequest(), url=api.url)
    api.answer = always(Answered(pieces=[b"x" * 5_000], kind="text/plain"))
    text = await bench.text(HttpRequest(), url=api.url, max_chars=100)
    assert "Cut after 100 of 5,000" in text
    assert len(text) < 600
