"""The models of a list that one can talk to, the newest first, and not too many."""

import re
from collections.abc import Sequence

from claw_acp.contracts.provider import ModelInfo

KEPT = 400
"""Models of one list that are kept."""

_OTHER_USES = (  # a text: compiled when the first list has come
    r"(?i)embed|whisper|\btts\b|-tts|transcribe|moderation|dall-e|gpt-image|imagen|\bveo\b|sora|rerank|realtime"
    r"|stable-diffusion|\bflux\b|babbage|davinci|\bbge-|\be5-|\bgte-|guard|text-to-|speech|-ocr\b|aqa$"
)
"""Models that answer no messages, by what vendors call them; a name that is typed is never held against this."""


def for_chat(models: Sequence[ModelInfo]) -> tuple[ModelInfo, ...]:
    """The models to talk to, each once; the newest first where the list says when they came out, else as it stands."""
    by_name = {model.id: model for model in models if model.id.isprintable() and not re.search(_OTHER_USES, model.id)}
    return tuple(sorted(by_name.values(), key=lambda model: -model.created))[:KEPT]
