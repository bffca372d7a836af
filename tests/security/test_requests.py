"""Requests that do more than fetch: asked about, unless a rule is about requests; a permission to fetch is none."""

import pytest

from claw_acp.contracts.tool import FetchesUrl
from claw_acp.core.errors import ConfigError
from claw_acp.core.value import replace
from claw_acp.security.command_paths import UntrustedText
from claw_acp.security.policy import Mode, Policy
from claw_acp.security.rule_words import covered_by
from claw_acp.security.rules import Rule, parse_rule
from tests.security.conftest import House, rules

MODES: tuple[Mode, ...] = ("plan", "ask", "edit", "auto")
LETTERS = {"allow": "a", "ask": "?", "deny": "x"}
GET = FetchesUrl(url="https://api.example.org/v1")
POST = replace(GET, method="POST", carries=True)
WITH_SECRET = replace(GET, secret="github")


def _verdicts(house: House, access: FetchesUrl, given: tuple[Rule, ...] = ()) -> str:
    decisions = [house.decide(access, tool="http_request", mode=mode, given=given) for mode in MODES]
    return "".join(LETTERS[decision.verdict] for decision in decisions)


@pytest.mark.parametrize(
    ("allowed", "get", "post", "with_secret"),
    [
        ((), "x???", "x???", "????"),
        (("fetch(api.example.org)",), "aaaa", "x???", "????"),
        (("fetch",), "aaaa", "x???", "????"),
        (("request(POST api.example.org)",), "x???", "xaaa", "????"),
        (("request(GET *.example.org)",), "aaaa", "x???", "aaaa"),
        (("request(api.example.org)",), "aaaa", "xaaa", "aaaa"),
        (("request(POST example.org)",), "x???", "x???", "????"),
        (("http_request",), "aaaa", "xaaa", "aaaa"),
    ],
)
def test_verdicts_in_every_mode(house: House, allowed: tuple[str, ...], get: str, post: str, with_secret: str) -> None:
    given = rules(allow=allowed)
    assert [_verdicts(house, access, given) for access in (GET, POST, WITH_SECRET)] == [get, post, with_secret]


@pytest.mark.parametrize(
    ("denied", "get", "post"),
    [
        ("fetch(api.example.org)", "xxxx", "xxxx"),
        ("request(*.example.org)", "xxxx", "xxxx"),
        ("request(POST api.example.org)", "x???", "xxxx"),
        ("request(DELETE api.example.org)", "x???", "xaaa"),
    ],
)
def test_a_refusal_to_fetch_is_about_every_request(house: House, denied: str, get: str, post: str) -> None:
    given = rules(allow=("request(POST api.example.org)",), deny=(denied,))
    assert [_verdicts(house, access, given) for access in (GET, POST)] == [get, post]


def test_always_is_about_this_method_of_this_host(house: House) -> None:
    decision = house.decide(POST, tool="http_request")
    assert decision.reason == "A POST request to api.example.org."
    assert decision.remember == ("request(POST api.example.org)",)
    assert house.decide(WITH_SECRET, tool="http_request").reason == (
        "A GET request with the secret github to api.example.org."
    )


def test_after_untrusted_text_a_request_that_carries_something_asks_whatever_rule_allows_it(house: House) -> None:
    text = UntrustedText(sources=("a page",), touched=lambda _: True, given=lambda _: True)
    context = replace(house.context, untrusted=text)
    policy = Policy(rules(allow=("request(api.example.org)",)))
    verdicts = [
        policy.decide(tool="http_request", accesses=[access], mode="auto", context=context).verdict
        for access in (GET, POST)
    ]
    assert verdicts == ["allow", "ask"]


@pytest.mark.parametrize("line", ["curl -X DELETE https://api.example.org/x", "curl https://api.example.org/x"])
def test_a_command_may_be_what_a_refusal_of_a_method_is_about(house: House, line: str) -> None:
    given = rules(allow=("shell",), deny=("request(DELETE api.example.org)",))
    assert house.run(line, given=given).verdict == "ask"
    assert house.run(line, given=rules(allow=("shell",), deny=("request(api.example.org)",))).verdict == "deny"


def test_rules_about_requests_are_told_in_words() -> None:
    assert covered_by(parse_rule("request(POST api.example.org)", verdict="allow")) == (
        "POST requests to api.example.org"
    )
    assert covered_by(parse_rule("request(*.example.org)", verdict="deny")) == (
        "requests to every host below example.org"
    )
    with pytest.raises(ConfigError, match="none of the methods"):
        parse_rule("request(SEND api.example.org)", verdict="allow")
