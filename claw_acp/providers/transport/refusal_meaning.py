"""Errors for refused requests, by status and the vendor's text, as tables. The first matching row decides.

Statuses alone say little: one vendor's 429 is another's 402, and "no such model" comes as 400, 403, 404 and 422. So
texts come first, each pattern only for the statuses it was seen with, and the status decides the rest.
"""

import re
from typing import Final, NamedTuple

from claw_acp.core.errors import (
    ContextTooLong,
    ImagesUnsupported,
    ModelNotAllowed,
    ModelNotFound,
    ProviderAuthFailed,
    ProviderError,
    ProviderUnavailable,
    QuotaExceeded,
    RateLimited,
    RequestRejected,
    ServiceMisconfigured,
    ToolsUnsupported,
    ToolUseRefused,
)


class Meaning(NamedTuple):
    """An error class, what happened in words that follow the provider's name, and a remedy."""

    error: type[ProviderError]
    happened: str
    advice: str


def meaning_of(status: int, said: str) -> Meaning:
    """The meaning of a refusal; `said` is the vendor's whole text, error codes included."""
    for statuses, pattern, meaning in _BY_WORDS:
        if status in statuses and re.search(pattern, said, re.IGNORECASE | re.DOTALL):
            return meaning
    if status in _BY_STATUS:
        return _BY_STATUS[status]
    if status >= 500:
        return _FAILED
    return _REDIRECTED if 300 <= status < 400 else _REJECTED


UNKNOWN_MODEL: Final = Meaning(
    ModelNotFound, "does not know this model", "Choose another model, or check its name in the configuration."
)
LIMITED: Final = Meaning(RateLimited, "is limiting requests", "Wait a moment and send the prompt again.")

_AUTH = Meaning(ProviderAuthFailed, "refused the API key", "Check the key configured for this provider.")
_AWS = Meaning(
    ProviderAuthFailed,
    "refused the AWS credentials",
    "Renew them, or check them with `aws sts get-caller-identity`.",
)
_NO_ACCESS = Meaning(
    ModelNotAllowed,
    "does not let this account use the model",
    "Ask for access to the model in the vendor's console, or choose another model.",
)
_SPENT = Meaning(
    QuotaExceeded,
    "has no credit left for this account",
    "Add credit or raise the limit with the vendor, or choose another model.",
)
_TOO_LONG = Meaning(
    ContextTooLong,
    "says the conversation is too long for the model",
    "Shorten or compact it, or start a new session.",
)
_FAILED = Meaning(ProviderUnavailable, "failed on its side", "Try again in a moment.")
_NO_PATH = Meaning(ServiceMisconfigured, "has nothing at this address", "Check base_url in the configuration.")
_REDIRECTED = Meaning(ServiceMisconfigured, "answered with a redirect", "Set base_url to the address it leads to.")
_REJECTED = Meaning(RequestRejected, "rejected the request", "Change what the message names, or choose another model.")
_NO_TOOLS = Meaning(
    ToolsUnsupported,
    "cannot give this model tools",
    "Choose another model, or set quirks.tools = false for this provider so that they are explained in words.",
)
_NO_USE = Meaning(
    ToolUseRefused,
    "could not do with the tools in this request",
    "Send the prompt again, or set quirks.tools = false for this provider so that they are explained in words.",
)
_NO_IMAGES = Meaning(
    ImagesUnsupported,
    "takes no pictures for this model",
    "Leave the picture out, choose another model, or name one for pictures: vision_model in config.toml.",
)
_BAD_CALL = Meaning(
    ProviderUnavailable,
    "could not use the tool call that its model wrote",
    "Send the prompt again, or choose another model.",
)
_FILTERED = Meaning(
    RequestRejected,
    "did not pass the prompt on, for its content filter",
    "Rephrase the prompt, or change the filter with the vendor.",
)
_OTHER_API = Meaning(
    RequestRejected,
    "serves this only through its Responses API",
    'Choose the model as openai-responses/NAME (kind = "responses"), or ask for no thinking (effort = "off").',
)


def _words(*parts: str) -> str:
    return "|".join(parts)  # compiled when the first request is refused, not when a session opens


_TOOL = r"(?:tools?|tool[ _-]?(?:use|calls?|calling)|functions?|function[ _-]?(?:calls?|calling))"

_TOOLS = _words(
    rf"(?:does(?: not|n't)|do not|cannot) support {_TOOL}\b(?! choice)",  # Ollama, DeepSeek
    # OpenAI, Groq, Azure, DashScope, Mistral
    rf"(?<!parallel )(?<!strict )\b{_TOOL}[`'\"]? (?:is|are) not (?:supported|enabled|available)",
    r"(?:unknown|unsupported|unrecogni[sz]ed|unexpected)\b[\w ]{0,30}\b(?:param(?:eter)?|field|argument)s?"
    r"[\w ]{0,12}\W{1,4}tools\b(?![\[.])",  # llama.cpp, OpenAI; not a detail of one tool (`tools[0].strict`)
    r"no endpoints found that support tool use",  # OpenRouter
    r"requires (?:--enable-auto-tool-choice|--tool-call-parser)",  # vLLM
    r"tools param requires --jinja",  # llama.cpp
)
_USE = _words(
    r"\btool[_ ]?choice\b",  # many: a model that takes no choice is told in words which tool to use
    r"tool.?call validation failed",  # Groq, for calls that its own reader cannot match
    r"was not in request",
)
_CALL = _words(r"tool_use_failed", r"failed to call a function")
_IMAGES = _words(
    r"images? (?:input|url)s? (?:is|are) not (?:supported|enabled|available)",  # llama.cpp, xAI, Mistral
    r"images? (?:is|are) not supported",
    r"(?:does(?: not|n't)|do not|cannot) support (?:image|vision|multimodal|multi-modal)",
    r"(?:no endpoints found that|not a model that) support image",  # OpenRouter
    r"is not a (?:multimodal|vision) model",  # vLLM
    r"unknown variant `image_url`",  # DeepSeek
    r"image_url\b.{0,40}(?:only supported|not supported|unsupported|not allowed)",  # OpenAI, Cerebras
    r"content[`'\"]? must be a string",  # Groq
    r"image input(?:s)? (?:is|are)? ?(?:un|not )supported",
)
_CONTEXT = _words(
    r"context.?length",
    r"context.?window",
    r"context.?size",
    r"context.?limit",
    r"maximum context",
    r"(?:prompt|input|request) is too long",
    r"too many (?:input )?tokens",
    r"reduce the length",
    r"exceed_context",
    r"max_prompt_tokens",
    r"input length and",
    r"model token limit",  # Moonshot
    r"max(?:imum)? (?:prompt|input) length",  # xAI
    r"exceeds? (?:the )?max(?:imum)? (?:length|number of tokens)",  # Zhipu, Gemini
    r"range of input length",  # DashScope
    r"max_new_tokens.{0,20}must be <=",  # text-generation-inference and Together
)
_QUOTA = _words(
    r"insufficient.?(?:quota|balance|credit|fund)",
    r"billing",
    r"credit balance",
    r"current quota",
    r"quota.?exceeded",
    r"out of credit",
    r"payment required",
    r"in arrears",
    r"plan does not include",
    r"余额不足",  # Zhipu, in its own language
    r"used all available credits",  # xAI
    r"(?:spending|api usage) limits?",  # xAI, Anthropic
    r"\b(?:1113|1311)\b",  # Zhipu: in arrears; not in the plan
)
_MODEL = _words(
    r"model_not_(?:found|supported)",
    r"not a valid model",
    r"models/\S{1,80} is not found",  # Google
    r"(?:unknown|invalid) model",
    r"model\b.{0,120}(?:not found|does(?: not|n't) exist)",
    r"\bmodel\W+(?:\S{1,80}\s+)?(?:is |was )?(?:not supported|unsupported|unknown|invalid|not available)",
    r"no endpoints found for",  # OpenRouter
    r"DeploymentNotFound",  # Azure
    r"model identifier is invalid",  # Bedrock
    r"could not resolve the foundation model",
    r"model_(?:decommissioned|deprecated|retired)",  # Groq
    r"model\b.{0,120}(?:has been (?:decommissioned|deprecated|retired|removed|discontinued)|no longer)",
    r"model not exist",  # DeepSeek
    r"模型不存在",  # Zhipu, in its own language
)
_KEY = _words(r"api key not valid", r"api key expired", r"API_KEY_INVALID")  # Google says 400
_SIGNED = _words(
    r"security token", r"UnrecognizedClient", r"InvalidSignature", r"ExpiredToken", r"InvalidClientTokenId"
)
_ACCESS = _words(r"access to (?:the )?model\b", r"model access")
_RESPONSES = _words(
    r"use /?v1/responses", r"only supported in /?v1/responses"
)  # OpenAI, for tools and thinking at once
_FILTER = _words(r"\bcontent_filter\b", r"ResponsibleAIPolicyViolation")

_BY_WORDS: Final[tuple[tuple[frozenset[int], str, Meaning], ...]] = (
    (frozenset({400, 404, 415, 422, 500, 501}), _IMAGES, _NO_IMAGES),
    (frozenset({400, 404}), _RESPONSES, _OTHER_API),
    (frozenset({400, 404, 422, 500, 501}), _TOOLS, _NO_TOOLS),  # llama.cpp says 500
    (frozenset({400, 404, 422}), _USE, _NO_USE),
    (frozenset({400, 422}), _CALL, _BAD_CALL),
    (frozenset({400}), _FILTER, _FILTERED),
    (frozenset({400}), _KEY, _AUTH),
    (frozenset({400, 413, 422}), _CONTEXT, _TOO_LONG),
    (frozenset({400, 401, 403}), _SIGNED, _AWS),
    (frozenset({403}), _ACCESS, _NO_ACCESS),
    (frozenset({400, 403, 429}), _QUOTA, _SPENT),
    (frozenset({400, 403, 404, 422}), _MODEL, UNKNOWN_MODEL),
    (frozenset({404}), _words(r"no endpoints found"), _REJECTED),
    (frozenset({404, 410}), _words(r"\bmodel\b"), UNKNOWN_MODEL),  # 410: NVIDIA
)
_BY_STATUS: Final = {
    401: _AUTH,
    402: _SPENT,
    403: _AUTH,
    404: _NO_PATH,
    408: _FAILED,
    409: _FAILED,
    413: _TOO_LONG,
    424: _FAILED,  # Bedrock: the model failed
    429: LIMITED,
}
