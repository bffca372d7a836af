"""The chat models of a list, the newest first, and not too many."""

import re
from collections.abc import Sequence

from claw_acp.contracts.provider import ModelInfo

KEPT = 400
"""The most models kept of one list."""

_OTHER_USES = (  # a text: compiled when the first list has come
    r"(?i)embed|whisper|\btts\b|-tts|transcribe|moderation|dall-e|gpt-image|imagen|\bveo\b|sora|rerank|realtime"
    r"|stable-diffusion|\bflux\b|babbage|davinci|\bbge-|\be5-|\bgte-|guard|text-to-|speech|-ocr\b|aqa$"
)
"""Names of models that do not chat; never applied to a name that is typed."""


def for_chat(models: Sequence[ModelInfo]) -> tuple[ModelInfo, ...]:
    """The chat models, each once; the newest first if the list has release dates, else in its order."""
    by_name = {model.id: model for model in models if model.id.isprintable() and not re.search(_OTHER_USES, model.id)}
    return tuple(sorted(by_name.values(), key=lambda model: -model.created))[:KEPT]
