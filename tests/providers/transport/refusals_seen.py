"""Refusals as services really write them, and the error each of them is. Read by every test of refusals.

The bodies of services are those of their documentation, or of what their users reported where a row names the report.
"""

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
from tests.support.servers.model_replies import Json


class Seen(NamedTuple):
    """A refused request: status, body (text as it is, else JSON), and what it means."""

    status: int
    body: Json
    kind: type[ProviderError]


def openai(message: str, *, kind: str = "invalid_request_error", code: str | int | None = None) -> Json:
    """An error body of the OpenAI family."""
    return {"error": {"message": message, "type": kind, "param": None, "code": code}}


def anthropic(kind: str, message: str) -> Json:
    """An error body of Anthropic's."""
    return {"type": "error", "error": {"type": kind, "message": message}, "request_id": "req_1"}


def google_quota(delay: object) -> list[dict[str, dict[str, object]]]:
    """Google's refusal of a request beyond the quota of the minute, as its OpenAI-compatible service wraps it."""
    info: dict[str, object] = {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": delay}
    words = "You exceeded your current quota, please check your plan and billing details."
    details = [{"@type": "type.googleapis.com/google.rpc.Help"}, info]
    return [{"error": {"code": 429, "message": words, "status": "RESOURCE_EXHAUSTED", "details": details}}]


_GENERAL = (
    Seen(401, openai("Incorrect API key provided", code="invalid_api_key"), ProviderAuthFailed),
    Seen(401, anthropic("authentication_error", "invalid x-api-key"), ProviderAuthFailed),
    Seen(403, anthropic("permission_error", "Your API key does not have permission"), ProviderAuthFailed),
    Seen(404, {"detail": "Not Found"}, ServiceMisconfigured),
    Seen(429, openai("Rate limit reached", kind="requests", code="rate_limit_exceeded"), RateLimited),
    Seen(429, anthropic("rate_limit_error", "This request would exceed your limit"), RateLimited),
    Seen(413, anthropic("request_too_large", "Request exceeds the maximum size"), ContextTooLong),
    Seen(408, "", ProviderUnavailable),
    Seen(409, "", ProviderUnavailable),
    Seen(500, openai("The server had an error", kind="server_error"), ProviderUnavailable),
    Seen(503, "upstream down", ProviderUnavailable),
    Seen(529, anthropic("overloaded_error", "Overloaded"), ProviderUnavailable),
    Seen(400, openai("Invalid value for temperature"), RequestRejected),
    Seen(400, openai("max_tokens is too large: 90000. This model supports at most 16384"), RequestRejected),
    Seen(422, {"detail": [{"msg": "field required"}]}, RequestRejected),
    Seen(307, "", ServiceMisconfigured),
)  # fmt: skip

_SPENT = (
    Seen(402, {"error": {"message": "Insufficient credits", "code": 402}}, QuotaExceeded),
    Seen(429, openai("You exceeded your current quota", code="insufficient_quota"), QuotaExceeded),
    Seen(400, anthropic("invalid_request_error", "Your credit balance is too low"), QuotaExceeded),
    Seen(400, anthropic("invalid_request_error", "You have reached your specified API usage limits."), QuotaExceeded),
    Seen(403, openai("Your team has used all available credits or reached its monthly spending limit"), QuotaExceeded),
    # https://docs.z.ai/api-reference/api-code
    Seen(429, openai("Your account is in arrears, please recharge and try again", code="1113"), QuotaExceeded),
    Seen(429, openai("余额不足或无可用资源包", code=1113), QuotaExceeded),
    Seen(429, openai("Your subscription plan does not include access to GLM-9", code="1311"), QuotaExceeded),
    Seen(429, openai("High concurrency usage of this API", code="1302"), RateLimited),
    Seen(429, openai("Your balance of 1131 requests a minute is used up"), RateLimited),
)  # fmt: skip

_NO_MODEL = (
    Seen(404, openai("The model `gpt-9` does not exist", code="model_not_found"), ModelNotFound),
    Seen(403, openai("Project `p` does not have access to model `gpt-9`", code="model_not_found"), ModelNotAllowed),
    Seen(403, {"message": "You don't have access to the model with the specified model ID."}, ModelNotAllowed),
    Seen(404, anthropic("not_found_error", "model: claude-9"), ModelNotFound),
    Seen(404, {"error": "model 'x' not found, try pulling it first"}, ModelNotFound),
    Seen(400, openai("x/y is not a valid model ID"), ModelNotFound),
    Seen(400, openai("Model x is not supported"), ModelNotFound),
    Seen(400, openai("The requested model 'x' is not supported.", code="model_not_supported"), ModelNotFound),
    Seen(400, openai("Model is unknown"), ModelNotFound),
    Seen(400, openai("Invalid model: x"), ModelNotFound),
    Seen(422, openai("Unknown model x"), ModelNotFound),
    Seen(400, openai("Model does not exist, please check the model code", code="1211"), ModelNotFound),
    Seen(404, openai("No endpoints found for nousresearch/hermes-3:free."), ModelNotFound),
    Seen(404, openai("The API deployment for this resource does not exist.", code="DeploymentNotFound"), ModelNotFound),
    Seen(404, openai("No endpoints found that support the provided 'tool_choice' value."), ToolUseRefused),
    Seen(400, openai("Unsupported parameter: 'temperature' is not supported with this model."), RequestRejected),
    Seen(400, openai("This model does not support image input"), ImagesUnsupported),
)  # fmt: skip

_TOO_LONG = (
    Seen(400, openai("Please shorten it", code="context_length_exceeded"), ContextTooLong),
    Seen(400, openai("This model's maximum context length is 8192 tokens"), ContextTooLong),
    Seen(400, anthropic("invalid_request_error", "prompt is too long: 250000 tokens > 200000 maximum"), ContextTooLong),
    Seen(400, {"error": {"message": "too big", "type": "exceed_context_size_error"}}, ContextTooLong),
    Seen(400, anthropic("invalid_request_error", "input length and `max_tokens` exceed context limit"), ContextTooLong),
    Seen(400, openai("Please reduce the length of the messages or completion."), ContextTooLong),
    Seen(400, openai("Your request exceeded model token limit: 131072"), ContextTooLong),
    Seen(400, openai("This model's maximum prompt length is 131072 but the request contains 537812"), ContextTooLong),
    Seen(400, openai("The input token count (1200000) exceeds the maximum number of tokens allowed"), ContextTooLong),
    Seen(400, openai("Prompt exceeds max length", code="1261"), ContextTooLong),
    Seen(400, openai("Range of input length should be [1, 30720]"), ContextTooLong),
    Seen(422, {"error": "`inputs` tokens + `max_new_tokens` must be <= 4096"}, ContextTooLong),
    Seen(400, openai("too many tokens: size limit exceeded"), ContextTooLong),
)  # fmt: skip

_NO_TOOLS = (
    # https://github.com/ollama/ollama/issues/11131
    Seen(400, {"error": "registry.ollama.ai/library/gemma3:4b does not support tools"}, ToolsUnsupported),
    Seen(400, openai("registry.ollama.ai/library/qwen:4b does not support tools", kind="api_error"), ToolsUnsupported),
    # https://github.com/langchain4j/langchain4j/issues/3475
    Seen(
        400,
        {
            "object": "error",
            "message": '"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set',
            "type": "BadRequestError",
            "param": None,
            "code": 400,
        },
        ToolsUnsupported,
    ),
    # https://github.com/defilantech/LLMKube/issues/126, https://github.com/ggml-org/llama.cpp/issues/10920
    Seen(500, openai("tools param requires --jinja flag", kind="server_error", code=500), ToolsUnsupported),
    Seen(500, openai("Unsupported param: tools", kind="server_error", code=500), ToolsUnsupported),
    # https://github.com/dnakov/anon-kode/issues/2
    Seen(404, openai("No endpoints found that support tool use. To learn more, visit: x", code=404), ToolsUnsupported),
    # https://github.com/sbintuitions/flexeval/pull/242
    Seen(400, openai("tools is not supported in this model. For a list, refer to x."), ToolsUnsupported),
    # https://github.com/MicrosoftDocs/azure-docs/issues/121504
    Seen(400, openai("Functions are not supported for this API version or this model version."), ToolsUnsupported),
    # https://github.com/spring-ai-alibaba/website/issues/39
    Seen(400, openai("<400> InternalError.Algo.InvalidParameter: The tool call is not supported."), ToolsUnsupported),
    Seen(400, openai("`tool calling` is not supported with this model"), ToolsUnsupported),
    Seen(400, openai("deepseek-reasoner does not support Function Calling"), ToolsUnsupported),
    Seen(400, openai("Function calling is not enabled for this model"), ToolsUnsupported),
    Seen(400, openai("Unrecognized request argument supplied: tools"), ToolsUnsupported),
    Seen(422, {"error": "unrecognized field `tools`"}, ToolsUnsupported),
    Seen(400, openai("Unknown parameter: 'tools'."), ToolsUnsupported),
    Seen(501, {"error": "function calling is not supported"}, ToolsUnsupported),
    # https://github.com/GoogleChromeLabs/webmcp-tools/issues/417
    Seen(
        400,
        openai(
            "Function tools with reasoning_effort are not supported for gpt-5.6-terra in /v1/chat/completions. "
            "To use function tools, use /v1/responses or set reasoning_effort to 'none'."
        ),
        RequestRejected,
    ),
    Seen(404, openai("This model is only supported in v1/responses and not in v1/chat/completions."), RequestRejected),
    # one tool, one call, or one choice that is wrong does not mean that there can be none
    Seen(400, openai("Unknown parameter: 'tools[0].function.strict'."), RequestRejected),
    Seen(400, openai("Invalid schema for function 'read_file': [] is not of type 'object'"), RequestRejected),
    Seen(400, openai("Parallel tool calls are not supported"), RequestRejected),
    Seen(400, openai("The model does not support tool choice 'required'"), ToolUseRefused),
    Seen(400, openai("Unsupported parameter: 'tool_choice'"), ToolUseRefused),
    Seen(422, openai("tool_choice is only allowed when tools are specified"), ToolUseRefused),
    Seen(500, openai("The tools of our data centre failed"), ProviderUnavailable),
    # https://github.com/HunorLaczko/ha-groq-cloud-api/issues/20, https://github.com/mastra-ai/mastra/issues/9688
    Seen(
        400,
        openai("tool call validation failed: parameters for tool f did not match schema", code="tool_use_failed"),
        ToolUseRefused,
    ),
    Seen(
        400,
        openai("Tool call validation failed: attempted to call tool 'f' which was not in request.tools"),
        ToolUseRefused,
    ),
    Seen(400, openai("Failed to call a function. Please adjust your prompt."), ProviderUnavailable),
)  # fmt: skip

_FILTERED = (
    Seen(400, openai("The response was filtered due to the prompt", code="content_filter"), RequestRejected),
)  # fmt: skip

SEEN: Final = (*_GENERAL, *_SPENT, *_NO_MODEL, *_TOO_LONG, *_NO_TOOLS, *_FILTERED)
