"""The thinking options of Gemini models, as data, by name.

Levels since generation 3, budgets of tokens in generation 2.5, nothing before and in models that draw or speak
(https://ai.google.dev/gemini-api/docs/thinking). The budgets are those that Google itself gives the efforts of its
OpenAI-compatible service (https://ai.google.dev/gemini-api/docs/openai).
"""

import re
from collections.abc import Mapping
from typing import Final

from claw_acp.contracts.provider import Effort
from claw_acp.core.json_value import JsonObject

_OLD = re.compile(r"gemini-(?:pro$|pro-vision|1|2)")
_SECOND_AND_A_HALF = re.compile(r"gemini-2\.5")
_OTHER_TRADES = re.compile(r"image|tts|audio|live|embedding|computer-use")

_BUDGETS: Final[Mapping[Effort, int]] = {"low": 1_024, "medium": 8_192, "high": 24_576}
_LEAST_BUDGET_OF_PRO = 128  # tokens; it cannot be kept from thinking


def is_current(model: str) -> bool:
    """True if `model` is of generation 3 or later: it needs signatures, and takes images within tool results."""
    return "gemini" in model and not _OLD.search(model)


def thinking_config(model: str, effort: Effort | None) -> JsonObject:
    """The `thinkingConfig` for `model`; empty if it is best left out. Thoughts are requested where they exist."""
    if _OTHER_TRADES.search(model):
        return {}
    if is_current(model):
        return _level(model, effort)
    return _budget(model, effort) if _SECOND_AND_A_HALF.search(model) else {}


def _level(model: str, effort: Effort | None) -> JsonObject:
    match effort:
        case None:
            return {"includeThoughts": True}
        case "off":  # nothing stops them altogether; Flash models can be brought to nearly nothing
            return {"thinkingLevel": "minimal" if "flash" in model else "low"}
        case "medium" if re.search(r"gemini-3-pro", model):  # the one that knows no middle
            return {"thinkingLevel": "high", "includeThoughts": True}
        case _:
            return {"thinkingLevel": effort, "includeThoughts": True}


def _budget(model: str, effort: Effort | None) -> JsonObject:
    match effort:
        case None:  # Flash-Lite does not think of itself, and refuses to tell what it did not think
            return {} if "lite" in model else {"includeThoughts": True}
        case "off":
            return {"thinkingBudget": _LEAST_BUDGET_OF_PRO if "pro" in model else 0}
        case _:
            return {"thinkingBudget": _BUDGETS[effort], "includeThoughts": True}
