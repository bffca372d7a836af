import json
from email.utils import formatdate

import pytest

from claw_acp.core.errors import (
    ContextTooLong,
    ModelNotFound,
    ProviderAuthFailed,
    ProviderError,
    ProviderUnavailable,
    QuotaExceeded,
    RateLimited,
    RequestRejected,
)
from claw_acp.net.redaction import masked
from claw_acp.net.refusals import read_refusal, refusal_error
from tests.support.fixed_clock import FixedClock

CLOCK = FixedClock()


def error_of(status: int, body: object, *, headers: dict[str, str] | None = None, secret: str = "") -> ProviderError:
    raw = body if isinstance(body, bytes) else json.dumps(body).encode()
    refusal = read_refusal(status, headers=headers or {}, body=raw, clock=CLOCK, secrets=[secret])
    return refusal_error(refusal, provider="acme")


def openai(message: str, *, kind: str = "invalid_request_error", code: str | None = None) -> object:
    return {"error": {"message": message, "type": kind, "param": None, "code": code}}


def anthropic(kind: str, message: str) -> object:
    return {"type": "error", "error": {"type": kind, "message": message}, "request_id": "req_1"}


@pytest.mark.parametrize(
    ("status", "body", "kind"),
    [
        (401, openai("Incorrect API key provided", code="invalid_api_key"), ProviderAuthFailed),
        (401, anthropic("authentication_error", "invalid x-api-key"), ProviderAuthFailed),
        (403, anthropic("permission_error", "Your API key does not have permission"), ProviderAuthFailed),
        (402, {"error": {"message": "Insufficient credits", "code": 402}}, QuotaExceeded),
        (404, openai("The model `gpt-9` does not exist", code="model_not_found"), ModelNotFound),
        (404, anthropic("not_found_error", "model: claude-9"), ModelNotFound),
        (404, {"error": "model 'x' not found, try pulling it first"}, ModelNotFound),
        (400, openai("x/y is not a valid model ID"), ModelNotFound),
        (404, {"detail": "Not Found"}, RequestRejected),
        (429, openai("Rate limit reached", kind="requests", code="rate_limit_exceeded"), RateLimited),
        (429, anthropic("rate_limit_error", "This request would exceed your limit"), RateLimited),
        (429, openai("You exceeded your current quota", code="insufficient_quota"), QuotaExceeded),
        (400, anthropic("invalid_request_error", "Your credit balance is too low"), QuotaExceeded),
        (400, openai("Please shorten it", code="context_length_exceeded"), ContextTooLong),
        (400, openai("This model's maximum context length is 8192 tokens"), ContextTooLong),
        (400, anthropic("invalid_request_error", "prompt is too long: 250000 tokens > 200000 maximum"), ContextTooLong),
        (400, {"error": {"message": "too big", "type": "exceed_context_size_error"}}, ContextTooLong),
        (413, anthropic("request_too_large", "Request exceeds the maximum size"), ContextTooLong),
        (408, b"", ProviderUnavailable),
        (409, b"", ProviderUnavailable),
        (500, openai("The server had an error", kind="server_error"), ProviderUnavailable),
        (503, b"upstream down", ProviderUnavailable),
        (529, anthropic("overloaded_error", "Overloaded"), ProviderUnavailable),
        (400, openai("Invalid value for temperature"), RequestRejected),
        (422, {"detail": [{"msg": "field required"}]}, RequestRejected),
        (307, b"", RequestRejected),
    ],
)  # fmt: skip
def test_a_refusal_is_the_error_its_status_and_words_mean(status: int, body: object, kind: type[ProviderError]) -> None:
    error = error_of(status, body)
    assert type(error) is kind
    assert (error.provider, error.status) == ("acme", status)


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
