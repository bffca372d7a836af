"""The self-description of a session plugin."""

from collections.abc import Sequence

from claw_acp.contracts.provider import Capabilities, ModelInfo
from claw_acp.core.json_value import JsonObject, JsonValue
from claw_acp.core.value import Value, made_by
from claw_acp.core.version import VERSION
from claw_acp.providers.binary import PLUGIN_DEFAULT
from claw_acp.providers.models.facts import sees_by_name

PROTOCOL_VERSION = 1
MODELS_LIMIT = 1000  # models of one plugin that are listened to

GREETING: JsonObject = {"protocolVersion": PROTOCOL_VERSION, "hostInfo": {"name": "claw-acp", "version": VERSION}}
"""The `params` of `initialize`."""


def assumed(model: str) -> Capabilities:
    """The capabilities assumed of a plugin that has not stated any, such as a one-shot plugin.

    Tools, as the protocol carries them; images only for a model whose name is known to see, since a program that
    ignores them would answer as if there were none.
    """
    return Capabilities(tools=True, images=sees_by_name(model))


class Offer(Value):
    """The answer to `initialize`; `said` is the answer as received."""

    version: int
    tools: bool = False
    images: bool = False
    thinking: bool = False
    models: tuple[ModelInfo, ...] = ()
    said: JsonObject = made_by(default_factory=dict[str, JsonValue])

    def capabilities(self, model: str) -> Capabilities:
        """The stated capabilities of one of its models. The plugin's default is its first model."""
        own_choice = model in {"", PLUGIN_DEFAULT}
        window = next((info.context_window for info in self.models if own_choice or info.id == model), 0)
        return Capabilities(tools=self.tools, images=self.images, thinking=self.thinking, context_window=window)


def read_offer(result: JsonValue) -> Offer | None:
    """The offer in an answer to `initialize`; None if the answer is not a session plugin's."""
    if not isinstance(result, dict):
        return None
    version = result.get("protocolVersion")
    if not isinstance(version, int) or isinstance(version, bool):
        return None
    said = result.get("capabilities")
    able = said if isinstance(said, dict) else {}
    thinking = able.get("thinking") is True
    return Offer(
        version=version,
        tools=able.get("tools") is True,
        images=able.get("vision") is True,
        thinking=thinking,
        models=read_models(result.get("models")),
        said=result,
    )


def read_models(value: JsonValue) -> tuple[ModelInfo, ...]:
    """A list of models; entries without an id are skipped."""
    rows: Sequence[JsonValue] = value if isinstance(value, list) else ()
    return tuple(info for row in rows[:MODELS_LIMIT] if (info := _model(row)) is not None)


def _model(row: JsonValue) -> ModelInfo | None:
    if not isinstance(row, dict):
        return None
    model_id, name, window = row.get("id"), row.get("name"), row.get("contextWindow")
    if not isinstance(model_id, str) or not model_id:
        return None
    return ModelInfo(
        id=model_id,
        name=name if isinstance(name, str) else None,
        context_window=window if isinstance(window, int) and not isinstance(window, bool) and window > 0 else 0,
    )
