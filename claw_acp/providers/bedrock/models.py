"""Facts about the models of Amazon Bedrock, by id, that decide the form of a request.

An id is a name (`anthropic.claude-…`), an inference profile (`us.anthropic.claude-…`) or an ARN; one that does not name
the maker gets the request that every model accepts.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Literal

from claw_acp.contracts.provider import ModelInfo
from claw_acp.core.json_value import JsonObject, JsonValue
from claw_acp.providers.models.facts import known_capabilities
from claw_acp.providers.transport.wire import items_at, object_at, text_at

CachePlaces = Literal["everywhere", "text", "nowhere"]
"""Places for cache points: after anything; after text only, and not among the tools; nowhere."""

_UNCACHED_CLAUDE = r"claude-(?:v?\d[:.]|v2|instant|3-(?:opus|sonnet|haiku|5-sonnet))"


def cache_places(model: str) -> CachePlaces:
    """The parts of a request in which a model takes cache points.

    Source: https://docs.aws.amazon.com/bedrock/latest/userguide/prompt-caching.html. The first Nova models refuse them
    among the tools and after results and images; for Nova 2 the documentation and reports of refusals contradict each
    other, so it is left to its own caching. Too short a prefix is not cached, which is no error.
    """
    if is_claude(model):
        return "nowhere" if re.search(_UNCACHED_CLAUDE, model.lower()) else "everywhere"
    return "text" if "amazon.nova-" in model.lower() and not is_nova_2(model) else "nowhere"


def is_claude(model: str) -> bool:
    """True if the model is Anthropic's."""
    return "claude" in model.lower()


def is_nova_2(model: str) -> bool:
    """True if the model is an Amazon Nova of the second generation."""
    return "amazon.nova-2" in model.lower()


def shows_in_results(model: str) -> bool:
    """True if tool results may contain images and a failure mark."""
    return is_claude(model) or "amazon.nova-" in model.lower()


def offered(listed: JsonValue, profiles: JsonValue) -> list[ModelInfo]:
    """The text models that stream, profiles first: some models are available only through one.

    Source: https://docs.aws.amazon.com/bedrock/latest/APIReference/API_ListFoundationModels.html and
    API_ListInferenceProfiles.html.
    """
    rows = {text_at(row, "modelId"): row for row in _rows(listed, "modelSummaries") if _chats(row)}
    found: dict[str, ModelInfo] = {}
    for profile in _rows(profiles, "inferenceProfileSummaries"):
        row = rows.get(_model_of(profile))
        name = text_at(profile, "inferenceProfileId")
        if row is not None and name and text_at(profile, "status") in {"ACTIVE", ""}:
            found[name] = _info(name, text_at(profile, "inferenceProfileName"), row)
    for model, row in rows.items():
        if "ON_DEMAND" in items_at(row, "inferenceTypesSupported"):
            found[model] = _info(model, text_at(row, "modelName"), row)
    return list(found.values())


def _rows(listed: JsonValue, key: str) -> Sequence[JsonObject]:
    rows = items_at(listed, key) if isinstance(listed, Mapping) else ()
    return [row for row in rows if isinstance(row, Mapping)]


def _chats(row: JsonObject) -> bool:
    streams = row.get("responseStreamingSupported") is True
    return streams and "TEXT" in items_at(row, "outputModalities") and "TEXT" in items_at(row, "inputModalities")


def _model_of(profile: JsonObject) -> str:
    """The id of the first model that a profile leads to."""
    first = next(iter(items_at(profile, "models")), None)
    return text_at(first, "modelArn").rpartition("/")[2] if isinstance(first, Mapping) else ""


def _info(model: str, name: str, row: JsonObject) -> ModelInfo:
    known = known_capabilities(model)
    legacy = text_at(object_at(row, "modelLifecycle"), "status") == "LEGACY"
    maker = text_at(row, "providerName")
    return ModelInfo(
        id=model,
        name=name or None,
        description=f"{maker} (to be retired)" if legacy else maker or None,
        context_window=known.context_window,
        images="IMAGE" in items_at(row, "inputModalities"),
        thinking=known.thinking or None,
    )
