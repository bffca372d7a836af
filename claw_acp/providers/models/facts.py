"""Facts about models by name, as data: the first row whose pattern matches the name decides.

Windows are in tokens and never larger than the vendor's documentation says: too small a figure compacts early, too
large a one fails. A service's own statements about its models take precedence.
"""

import re
from functools import lru_cache
from typing import Literal, NamedTuple

from claw_acp.contracts.provider import Capabilities, ModelInfo

ThinkingStyle = Literal["none", "budget", "adaptive"]
"""Ways to request thinking from an Anthropic model: not at all, a budget of tokens, or an effort."""


class _Row(NamedTuple):
    pattern: str  # compiled when it is first looked for: a new session needs few of them, and at once
    window: int
    images: bool | None
    thinking: bool


def _row(pattern: str, window: int, *, images: bool | None = None, thinking: bool = False) -> _Row:
    return _Row(pattern, window, images, thinking)


_ROWS = (
    _row(r"gpt-(?:6|5\.[6-9])", 922_000, images=True, thinking=True),
    _row(r"gpt-5.*chat", 128_000, images=True),
    _row(r"gpt-5", 400_000, images=True, thinking=True),
    _row(r"gpt-4\.1", 1_047_576, images=True),
    _row(r"gpt-4o|chatgpt-4o|gpt-4-turbo", 128_000, images=True),
    _row(r"gpt-4(?!\.)", 8_192, images=False),
    _row(r"gpt-3\.5", 16_385, images=False),
    _row(r"gpt-oss", 131_072, images=False, thinking=True),
    _row(r"\bo1-mini|\bo3-mini", 128_000, images=False, thinking=True),
    _row(r"\bo[134]\b", 200_000, images=True, thinking=True),
    _row(r"claude-(?:2|instant)", 100_000, images=False),
    _row(r"claude-3-(?:opus|sonnet|haiku|5)", 200_000, images=True),
    _row(
        r"claude-(?:opus-4-[678]|sonnet-4-6|(?:opus|sonnet|haiku|fable|mythos)-5)",
        1_000_000,
        images=True,
        thinking=True,
    ),
    _row(r"claude", 200_000, images=True, thinking=True),
    _row(r"gemini-(?:1\.5|2\.0)", 1_000_000, images=True),
    _row(r"gemini", 1_000_000, images=True, thinking=True),
    _row(r"deepseek-flash", 1_000_000, images=True, thinking=True),
    _row(r"deepseek-v4", 1_000_000, images=False, thinking=True),
    _row(r"deepseek-(?:reasoner|r1)", 64_000, images=False, thinking=True),
    _row(r"deepseek-(?:chat|coder|v[23])", 64_000, images=False),
    _row(r"kimi-k(?:2\.[5-9]|[3-9])", 256_000, images=True, thinking=True),
    _row(r"kimi-k2-thinking", 256_000, images=False, thinking=True),
    _row(r"kimi-k2|moonshot-v1(?!.*vision)", 128_000, images=False),
    _row(r"kimi|moonshot", 128_000),
    _row(r"qwen3-coder", 262_144, images=False),
    _row(r"qwen.*(?:vl|omni)|qvq", 32_768, images=True),
    _row(r"qwen3(?![.\d])|qwq", 32_768, images=False, thinking=True),
    _row(r"qwen3", 0, thinking=True),
    _row(r"glm-4\.\dv", 64_000, images=True, thinking=True),
    _row(r"glm-(?:4\.[5-9]|5(?!\.[3-9]))", 128_000, images=False, thinking=True),
    _row(r"glm-(?:5|[6-9])", 128_000, thinking=True),
    _row(r"pixtral|mistral-(?:small|medium)", 128_000, images=True),
    _row(r"mixtral|mistral-(?:7b|nemo)|codestral|devstral", 128_000, images=False),
    _row(r"mistral", 128_000),
    _row(r"llama-?4", 128_000, images=True),
    _row(r"llama-?3\.2.*vision", 128_000, images=True),
    _row(r"llama-?3(?:\.[1-9]|-[1-9]-\d+b)", 128_000, images=False),
    _row(r"nova-2-lite|nova-2-pro", 1_000_000, images=True, thinking=True),
    _row(r"nova-premier", 1_000_000, images=True),
    _row(r"nova-(?:pro|lite)", 300_000, images=True),
    _row(r"nova-micro", 128_000, images=False),
    _row(r"gemma-?3", 128_000, images=True),
    _row(r"grok-(?:[4-9]|build)", 0, thinking=True),
    _row(r"minimax-m", 0, thinking=True),
)

_UNKNOWN = _row("", 0)

_HEARS = r"gemini|gpt-audio|gpt-4o.*audio|voxtral|qwen.*omni|gemma-?3n|phi-4-multimodal"
_BUDGET_THINKERS = r"claude-(?:3-7|opus-4-[015]|opus-4-2\d{7}|sonnet-4-(?:0|5|2\d{7})|haiku-4)"
_NO_THINKING = r"claude-(?:2|instant|3-(?:opus|sonnet|haiku|5))"
_LEAST_EFFORT = (
    (r"gpt-6-(?:sol|luna)", "none"),
    (r"gpt-6", "low"),
    (r"gpt-5.*(?:chat|pro)", None),
    (r"gpt-5\.\d", "none"),
    (r"gpt-5", "minimal"),
    (r"gpt-oss|\bo[134]\b", "low"),
)
_SILENT_WITH_TOOLS = r"gpt-5\.[6-9]|gpt-6-(?:sol|luna)"
_FIXED_SAMPLING = r"claude-(?:opus-4-[7-9]|(?:opus|sonnet|haiku|fable|mythos)-[5-9])"


def known_capabilities(model: str, about: ModelInfo | None = None) -> Capabilities:
    """The capabilities of `model`: those in `about`, else by its name in any service's spelling.

    Vision is assumed: a model without it says so, and one that gets no images could never prove it. Audio input is
    rare, and must be known.
    """
    said = about or ModelInfo(id=model)
    row, hears = _by_name(model)
    return Capabilities(
        tools=said.tools is not False,
        images=row.images is not False if said.images is None else said.images,
        audio=hears if said.audio is None else said.audio,
        thinking=row.thinking if said.thinking is None else said.thinking,
        context_window=said.context_window or row.window,
    )


@lru_cache(maxsize=256)  # asked several times a turn, and every row is a search
def _by_name(model: str) -> tuple[_Row, bool]:
    """The row of a name, and whether that model accepts audio."""
    name = _spelled(model)
    row = next((row for row in _ROWS if re.search(row.pattern, name)), _UNKNOWN)
    return row, bool(re.search(_HEARS, name))


def sees_by_name(model: str) -> bool:
    """True if a model's name alone proves vision."""
    return _by_name(model)[0].images is True


def least_effort(model: str) -> str | None:
    """The least `reasoning_effort` that an OpenAI model accepts; None if it is best left out."""
    return next((effort for pattern, effort in _LEAST_EFFORT if re.search(pattern, model.lower())), None)


def thinks_unless_told(model: str) -> bool:
    """True if an OpenAI model thinks by default, and then refuses tools in chat completions.

    Source: https://developers.openai.com/api/docs/guides/responses-vs-chat-completions.
    """
    return bool(re.search(_SILENT_WITH_TOOLS, model.lower()))


def thinking_style(model: str) -> ThinkingStyle:
    """The thinking style of an Anthropic model; models newer than this table get the newest."""
    name = _spelled(model)
    if re.search(_NO_THINKING, name):
        return "none"
    return "budget" if re.search(_BUDGET_THINKERS, name) else "adaptive"


def takes_sampling(model: str) -> bool:
    """True if the Anthropic model `model` still accepts temperature and top_p."""
    return not re.search(_FIXED_SAMPLING, _spelled(model))


def _spelled(model: str) -> str:
    """A canonical spelling: lower-case, and `claude-opus-4-5` for a service's `claude-opus-4.5`."""
    name = model.lower()
    return name.replace(".", "-") if "claude" in name else name
