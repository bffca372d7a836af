import json
from email.utils import formatdate

import pytest

from claw_acp.core.errors import ProviderError, QuotaExceeded, RateLimited
from claw_acp.net.redaction import masked
from claw_acp.providers.transport.refusals import read_refusal, refusal_error, refusal_in_reply
from tests.providers.transport.refusals_seen import SEEN, Seen, anthropic, google_quota, openai
from tests.support.fixed_clock import FixedClock

CLOCK = FixedClock()


def error_of(status: int, body: object, *, headers: dict[str, str] | None = None, secret: str = "") -> ProviderError:
    raw = body if isinstance(body, bytes) else json.dumps(body).encode()
    refusal = read_refusal(status, headers=headers or {}, body=raw, clock=CLOCK, secrets=[secret])
    return refusal_error(refusal, provider="acme")


@pytest.mark.parametrize("seen", SEEN)
def test_a_refusal_is_the_error_its_status_and_words_mean(seen: Seen) -> None:
    error = error_of(seen.status, seen.body)
    assert type(error) is seen.kind
    assert (error.provider, error.status) == ("acme", seen.status)


def test_the_text_names_provider_status_the_vendors_words_and_what_to_do() -> None:
    assert str(error_of(429, anthropic("rate_limit_error", "Slow down"))) == (
        "acme is limiting requests (HTTP 429): Slow down. Wait a moment and send the prompt again."
    )
    assert str(error_of(503, b"")) == "acme failed on its side (HTTP 503). Try again in a moment."


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ({"error": "plain"}, "plain"),
        ({"message": "top"}, "top"),
        ([{"error": {"message": "in a list"}}], "in a list"),
        (b"no json\n at all", "no json at all"),
        (b"<!DOCTYPE html><html><body>502</body></html>", None),
        ([], None),
        (17, None),
        ({"error": {"message": 5}}, None),
    ],
)
def test_words_are_found_in_error_bodies_of_many_shapes(body: object, words: str | None) -> None:
    said = f" (HTTP 500): {words}." if words else " (HTTP 500). Try"
    assert said in str(error_of(500, body))


def test_the_model_is_named_where_it_is_known() -> None:
    refusal = read_refusal(503, headers={}, body=b"", clock=CLOCK)
    error = refusal_error(refusal, provider="acme", model="gpt-9")
    assert (str(error), error.model) == ("acme failed on its side (gpt-9, HTTP 503). Try again in a moment.", "gpt-9")
    body = json.dumps(openai("gone", code="model_not_found")).encode()
    refusal = read_refusal(404, headers={}, body=body, clock=CLOCK)
    assert str(refusal_error(refusal, provider="acme", model="gpt-9")) == (
        "acme does not know the model gpt-9 (HTTP 404): gone. "
        "Choose another model, or check its name in the configuration."
    )


def test_what_a_content_filter_found_is_named() -> None:
    """The body is that of https://learn.microsoft.com/azure/ai-foundry/openai/concepts/content-filter."""
    found = {"jailbreak": {"filtered": True, "detected": True}, "hate": {"filtered": False, "severity": "safe"}}
    inner = {"code": "ResponsibleAIPolicyViolation", "content_filter_result": found}
    error = error_of(400, {"error": {"message": "Filtered", "code": "content_filter", "innererror": inner}})
    assert str(error) == (
        "acme did not pass the prompt on, for its content filter (HTTP 400): Filtered (filtered: jailbreak). "
        "Rephrase the prompt, or change the filter with the vendor."
    )


@pytest.mark.parametrize(
    ("delay", "seconds"),
    [("37s", 37.0), ("0.337s", 0.337), ("3600s", 60.0), ("soon", None), ("-1s", None), (5, None), (None, None)],
)
def test_google_says_in_the_body_when_to_come_back(delay: object, seconds: float | None) -> None:
    """`RetryInfo`: https://cloud.google.com/apis/design/errors#error_payloads; the delay is a JSON duration."""
    error = error_of(429, google_quota(delay))
    assert error.retry_after == seconds
    assert type(error) is (QuotaExceeded if seconds is None else RateLimited)  # a quota of the minute fills up again
    inside = refusal_in_reply(google_quota(delay)[0]["error"])  # pyright: ignore[reportIndexIssue, reportUnknownArgumentType, reportUnknownVariableType, reportArgumentType]
    assert inside.retry_after == seconds


def test_a_header_that_says_when_to_come_back_is_preferred() -> None:
    assert error_of(429, google_quota("37s"), headers={"retry-after": "2"}).retry_after == 2.0


def test_long_words_are_cut() -> None:
    error = error_of(400, openai("y" * 5000))
    assert len(str(error)) < 700
    assert "y" * 499 + "…" in str(error)


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after": "7"}, 7.0),
        ({"retry-after": "0.5"}, 0.5),
        ({"retry-after": "3600"}, 60.0),
        ({"retry-after": "-3"}, 0.0),
        ({"retry-after": formatdate(CLOCK.now() + 12, usegmt=True)}, 12.0),
        ({"retry-after": formatdate(CLOCK.now() - 12, usegmt=True)}, 0.0),
        ({"retry-after": formatdate(CLOCK.now() + 9999, usegmt=True)}, 60.0),
        ({"retry-after-ms": "1500", "retry-after": "2"}, 1.5),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "nan"}, None),
        ({}, None),
    ],
)
def test_retry_after_is_read_in_both_forms_and_capped(headers: dict[str, str], seconds: float | None) -> None:
    assert error_of(429, b"", headers=headers).retry_after == seconds


def test_a_key_the_vendor_echoes_is_masked() -> None:
    error = error_of(401, openai("bad key my-own-secret-key! (sk-proj-abcdefghijkl)"), secret="my-own-secret-key")
    assert "bad key ***! (***)" in str(error)


@pytest.mark.parametrize(
    "key",
    [
        "sk-ant-api03-abcdefgh",
        "sk-ab12********wxyz",
        "gsk_abcdefgh12",
        "ghp_abcdefgh12",
        "AIzaSyA-abcd",
        "xai-abcdefgh1",
    ],
)
def test_what_looks_like_a_key_is_masked(key: str) -> None:
    assert masked(f"key {key}, sorry") == "key ***, sorry"


def test_honest_text_is_left_alone() -> None:
    text = "task-based risk-assessment of ask-me-anything with key none"
    assert masked(text, secrets=["none"]) == text
