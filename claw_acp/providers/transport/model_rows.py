"""A row of a service's list of models, in the form of any known service.

Lists have only the ids in common: each member is looked up under all its known names, and missing facts stay unknown.
"""

import re
from collections.abc import Sequence
from datetime import datetime
from typing import Final

from claw_acp.contracts.model_price import Price, Rate
from claw_acp.contracts.provider import ModelInfo
from claw_acp.core.json_value import JsonObject, JsonValue
from claw_acp.core.money import DOLLAR
from claw_acp.providers.transport.wire import items_at, number_at, object_at, text_at

WINDOWS: Final = (
    "loaded_context_length",  # LM Studio: what it was loaded with, which may be less than its model was made for
    "n_ctx",  # llama.cpp
    "context_length",  # OpenRouter, Together, Moonshot, Fireworks, Cohere
    "context_window",  # Groq, Vercel
    "max_model_len",  # vLLM, SGLang
    "max_input_tokens",  # Anthropic, LiteLLM
    "max_prompt_length",  # xAI
    "max_context_length",  # Mistral, LM Studio
    "context_size",  # Novita
    "availableContextTokens",  # Venice
    "inputTokenLimit",  # Google
    "n_ctx_train",  # llama.cpp: what its model was made for
)
_PLACES: Final = ("", "metadata", "meta", "model_spec", "top_provider", "limits")
_SEES: Final = re.compile(r"^(?:image|vision|image[-_]?input|multimodal|image[-_ ]to[-_ ]text)$", re.IGNORECASE)
_CALLS: Final = re.compile(r"^(?:tools?|tool[-_]?(?:use|calls?|calling)|function[-_]?call(?:s|ing)?)$", re.IGNORECASE)
_THINKS: Final = re.compile(r"^(?:reasoning|thinking|reasoning_effort|include_reasoning)$", re.IGNORECASE)
_SWITCHES: Final = {
    "images": (
        "supports_image_in",
        "supports_image_input",
        "supports_vision",
        "vision",
        "supportsVision",
        "image_input",
    ),
    "tools": ("supports_tools", "function_calling", "supportsFunctionCalling", "supports_function_calling"),
    "thinking": ("supports_reasoning", "reasoning", "supportsReasoning", "thinking"),
}
_WORDS: Final = {"images": _SEES, "tools": _CALLS, "thinking": _THINKS}
_MODALITIES: Final = ("input_modalities", "modalities", "supported_input_modalities", "inputModalities")
_FEATURES: Final = ("supported_parameters", "features", "tags", "capabilities", "supported_features")
_PRICED: Final = (
    ("prompt", "completion", "input_cache_read", "input_cache_write"),  # OpenRouter: dollars for a token, as text
    ("input", "output", "input_cache_read", "input_cache_write"),  # Vercel: the same
)


def model_in(row: JsonObject) -> ModelInfo:
    """The model of a row; `id` may be empty."""
    title = text_at(row, "name") or text_at(row, "display_name")
    return ModelInfo(
        id=text_at(row, "id"),
        name=title or None,
        context_window=window_in(row),
        tools=_able(row, "tools"),
        images=_goes_in(row, "image", otherwise=_sees(row)),
        audio=_goes_in(row, "audio"),
        thinking=_able(row, "thinking"),
        created=_created(row),
        deprecated=bool(row.get("deprecation") or row.get("deprecated")) or None,
        prices=_prices(row),
    )


def window_in(row: JsonObject) -> int:
    """The window in tokens; 0 if it is missing."""
    return next((size for name in WINDOWS for place in _parts(row) if (size := number_at(place, name)) > 0), 0)


def answers(row: JsonObject) -> bool:
    """True unless the row says that the model does not chat."""
    kind = text_at(row, "type")
    capabilities = object_at(row, "capabilities")
    chats = capabilities.get("completion_chat", row.get("supports_chat"))
    return chats is not False and kind not in {"embeddings", "embedding", "image", "audio", "rerank", "moderation"}


def _parts(row: JsonObject) -> Sequence[JsonObject]:
    return [object_at(row, place) if place else row for place in _PLACES]


def _goes_in(row: JsonObject, medium: str, *, otherwise: bool | None = None) -> bool | None:
    """True if the model takes a medium: a list of inputs is complete, other lists may leave it out."""
    for place in (*_parts(row), object_at(row, "architecture")):
        for name in _MODALITIES:
            if goes_in := items_at(place, name):
                return medium in [str(each).lower() for each in goes_in]
    return otherwise


def _sees(row: JsonObject) -> bool | None:
    if text_at(row, "type") in {"vlm", "llm"}:  # LM Studio
        return text_at(row, "type") == "vlm"
    return _able(row, "images")


def _able(row: JsonObject, ability: str) -> bool | None:
    places = [*_parts(row), object_at(row, "capabilities"), object_at(object_at(row, "model_spec"), "capabilities")]
    for place in places:
        for name in _SWITCHES[ability]:
            said = place.get(name)
            said = said.get("supported") if isinstance(said, dict) else said  # Anthropic
            if isinstance(said, bool):
                return said
    features = [str(each) for place in _parts(row) for name in _FEATURES for each in items_at(place, name)]
    if any(_WORDS[ability].match(feature) for feature in features):
        return True
    return False if ability != "images" and items_at(row, "supported_parameters") else None


def _created(row: JsonObject) -> int:
    seconds = number_at(row, "created") or number_at(row, "released")
    if seconds > 0:
        return seconds
    try:
        return int(datetime.fromisoformat(text_at(row, "created_at")).timestamp())  # Anthropic
    except (ValueError, OverflowError):
        return 0


def _prices(row: JsonObject) -> tuple[Price, ...]:
    pricing = object_at(row, "pricing")
    for names in _PRICED:
        sent, answered, read, written = (_per_token(pricing.get(name)) for name in names)
        if sent is not None and answered is not None:
            return (Price(rate=Rate(input=sent, output=answered, cached_read=read, cached_write=written)),)
    return ()


def _per_token(said: JsonValue) -> int | None:
    """Picodollars from dollars per token, which are texts; numbers mean dollars per million, or other units."""
    try:
        dollars = float(said) if isinstance(said, str) else -1.0
    except ValueError:
        return None
    return round(dollars * DOLLAR) if 0 <= dollars < 1 else None
