"""Rows of lists of models, in the words of each service."""

# ruff: noqa: E501 - rows as services send them

import pytest

from claw_acp.contracts.model_price import Price, Rate
from claw_acp.core.json_value import JsonObject
from claw_acp.providers.models.facts import known_capabilities
from claw_acp.providers.transport.model_rows import answers, model_in

ROWS: dict[str, tuple[JsonObject, tuple[int, bool | None, bool | None, bool | None]]] = {
    "openrouter": (
        {
            "id": "z-ai/glm-5.3", "context_length": 202_752, "architecture": {"input_modalities": ["text", "image"]},
            "supported_parameters": ["max_tokens", "reasoning", "tools"],
        },
        (202_752, True, True, True),
    ),
    "openrouter, text only": (
        {"id": "m", "architecture": {"input_modalities": ["text"]}, "supported_parameters": ["max_tokens"]},
        (0, False, False, False),
    ),
    "anthropic": (
        {
            "type": "model", "id": "claude-sonnet-5-5", "display_name": "Claude Sonnet 5.5", "max_input_tokens": 1_000_000,
            "max_tokens": 128_000, "created_at": "2026-09-01T00:00:00Z",
            "capabilities": {"image_input": {"supported": True}, "thinking": {"supported": True, "types": {}}},
        },
        (1_000_000, None, True, True),
    ),
    "mistral": (
        {
            "id": "mistral-large-4", "max_context_length": 262_144,
            "capabilities": {"completion_chat": True, "function_calling": True, "vision": False},
        },
        (262_144, True, False, None),
    ),
    "groq": ({"id": "openai/gpt-oss-120b", "context_window": 131_072, "active": True}, (131_072, None, None, None)),
    "moonshot": (
        {"id": "kimi-k3", "context_length": 1_048_576, "supports_image_in": True, "supports_reasoning": True},
        (1_048_576, None, True, True),
    ),
    "fireworks": (
        {"id": "f", "context_length": 4096, "supports_image_input": False, "supports_tools": True},
        (4096, True, False, None),
    ),
    "deepinfra": (
        {"id": "d", "metadata": {"context_length": 163_840, "tags": ["vision", "reasoning", "prompt_cache"]}},
        (163_840, None, True, True),
    ),
    "venice": (
        {
            "id": "v", "type": "text", "model_spec": {
                "availableContextTokens": 131_072,
                "capabilities": {"supportsVision": False, "supportsFunctionCalling": True, "supportsReasoning": True},
            },
        },
        (131_072, True, False, True),
    ),
    "vercel": (
        {"id": "a/b", "type": "language", "context_window": 200_000, "tags": ["tool-use", "vision"]},
        (200_000, True, True, None),
    ),
    "xai": ({"id": "grok-4.7", "input_modalities": ["text", "image"], "max_prompt_length": 5000}, (5000, None, True, None)),
    "lm studio": (
        {"id": "q", "type": "vlm", "max_context_length": 32_768, "loaded_context_length": 8192, "capabilities": ["tool_use"]},
        (8192, True, True, None),
    ),
    "lm studio, blind": ({"id": "q", "type": "llm", "max_context_length": 32_768}, (32_768, None, False, None)),
    "vllm": ({"id": "q", "max_model_len": 40_960, "owned_by": "vllm"}, (40_960, None, None, None)),
    "openai": ({"id": "gpt-6.1-sol", "created": 1_780_000_000, "owned_by": "system"}, (0, None, None, None)),
}  # fmt: skip


@pytest.mark.parametrize("service", ROWS)
def test_what_a_service_says_of_a_model_is_understood_and_the_rest_stays_unknown(service: str) -> None:
    row, known = ROWS[service]
    info = model_in(row)
    assert (info.context_window, info.tools, info.images, info.thinking) == known


@pytest.mark.parametrize(
    ("row", "hears"),
    [
        ({"architecture": {"input_modalities": ["text", "image", "audio"]}}, True),  # OpenRouter
        ({"architecture": {"input_modalities": ["text", "image"]}}, False),
        ({}, None),
    ],
)
def test_whether_a_model_hears_is_known_from_a_list_of_what_goes_in(row: JsonObject, *, hears: bool | None) -> None:
    info = model_in({"id": "m", **row})
    assert info.audio is hears
    assert known_capabilities("gemini-3.5-flash", info).audio is (hears is not False)
    assert known_capabilities("m", info).audio is (hears is True)


def test_prices_for_a_token_are_those_of_the_service_and_other_units_are_left_alone() -> None:
    priced = {"prompt": "0.000003", "completion": "0.000015", "input_cache_read": "0.0000003"}
    assert model_in({"id": "m", "pricing": priced}).prices == (
        Price(rate=Rate(input=3_000_000, output=15_000_000, cached_read=300_000)),
    )
    for other in ({"prompt": "-1", "completion": "-1"}, {"input": 0.18, "output": 0.59}, {"prompt": "free"}):
        assert model_in({"id": "m", "pricing": other}).prices == ()


def test_when_a_model_came_out_is_read_in_either_form() -> None:
    rows: list[JsonObject] = [{"id": "m", "created": 1_788_220_800}, {"id": "m", "created_at": "2026-09-01T00:00:00Z"}]
    assert [model_in(row).created for row in rows] == [1_788_220_800, 1_788_220_800]
    assert model_in({"id": "m", "created_at": "soon"}).created == 0


@pytest.mark.parametrize(
    ("row", "chats"),
    [
        ({"id": "m"}, True),
        ({"id": "m", "type": "chat"}, True),
        ({"id": "m", "type": "embeddings"}, False),
        ({"id": "m", "capabilities": {"completion_chat": False, "ocr": True}}, False),
        ({"id": "m", "supports_chat": False}, False),
    ],
)
def test_models_that_a_list_says_are_for_something_else_are_left_out(row: JsonObject, *, chats: bool) -> None:
    assert answers(row) == chats
