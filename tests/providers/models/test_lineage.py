"""The newest model of a family: by its generation, and never a preview, a snapshot, or a model for something else."""

# ruff: noqa: E501 - a table reads best with a row to a line

import pytest

from claw_acp.contracts.provider import ModelInfo
from claw_acp.providers.models.lineage import lineage, newest


def of(family: str, *models: str) -> str:
    return newest([ModelInfo(id=model) for model in models], [lineage(family).family])


@pytest.mark.parametrize(
    ("family", "models", "chosen"),
    [
        ("claude-sonnet", "claude-sonnet-4-5 claude-sonnet-5-5 claude-3-7-sonnet-latest claude-sonnet-5", "claude-sonnet-5-5"),
        ("claude-sonnet", "claude-opus-9 claude-sonnet-4-10 claude-sonnet-4-9", "claude-sonnet-4-10"),
        ("claude-sonnet", "claude-sonnet-4-20250514 claude-sonnet-4-5-20250929", "claude-sonnet-4-5-20250929"),
        ("claude-sonnet", "claude-sonnet-4-6 claude-sonnet-5-20991231", "claude-sonnet-4-6"),
        ("gpt", "gpt-5.1 gpt-5.5 gpt-5.5-pro gpt-5-mini gpt-image-9 gpt-audio-7 gpt-5.6-codex gpt-4o", "gpt-5.5"),
        ("gpt", "gpt-5.1 gpt-5.2-2025-12-11 ft:gpt-9:me:: gpt-6-preview gpt-realtime-8", "gpt-5.1"),
        ("gpt-sol", "gpt-6-sol gpt-6.1-sol gpt-6.2-terra gpt-5.6-sol", "gpt-6.1-sol"),
        ("gemini-flash", "gemini-2.5-flash gemini-3.8-flash gemini-9-flash-lite gemini-4-flash-preview", "gemini-3.8-flash"),
        ("gemini-flash", "gemini-3.8-flash-tts gemini-9-flash-image gemini-3.5-flash-001 gemini-3.5-flash", "gemini-3.5-flash"),
        ("grok", "grok-4-0709 grok-4.20 grok-4.7 grok-4.3 grok-9-beta grok-code-fast-1", "grok-4.7"),
        ("kimi-k", "kimi-k2.6 kimi-k3 kimi-k2-0905-preview kimi-k2.7-code moonshot-v1-128k", "kimi-k3"),
        ("minimax-m", "MiniMax-M2 MiniMax-M3 MiniMax-M2.7 MiniMax-M3.1-Flash MiniMax-Text-01", "MiniMax-M3"),
        ("mistral-large", "mistral-large-2411 mistral-large-latest mistral-large-2512", "mistral-large-latest"),
        ("anthropic/claude-sonnet", "anthropic/claude-sonnet-5.5 other/claude-sonnet-9 anthropic/claude-sonnet-6:free", "anthropic/claude-sonnet-5.5"),
        ("openai/gpt-oss-120b", "openai/gpt-oss-20b openai/gpt-oss-120b meta/llama-9", "openai/gpt-oss-120b"),
        ("gpt-oss:120b", "gpt-oss:20b gpt-oss:120b gpt-oss:120b-cloud", "gpt-oss:120b"),
        ("us.anthropic.claude-sonnet", "us.anthropic.claude-sonnet-4-20250514-v1:0 us.anthropic.claude-sonnet-4-5-20250929-v1:0", "us.anthropic.claude-sonnet-4-5-20250929-v1:0"),
        ("qwen-coder-plus", "qwen3-coder-plus qwen3.5-coder-plus qwen4-coder-flash", "qwen3.5-coder-plus"),
        ("glm", "glm-4.6 glm-5.3 glm-5.3-flash glm-4.6v", "glm-5.3"),
        ("deepseek-chat", "deepseek-v4-pro deepseek-flash", ""),
        ("gpt", "", ""),
    ],
)  # fmt: skip
def test_the_newest_of_a_family_is_chosen_whatever_the_order(family: str, models: str, chosen: str) -> None:
    names = models.split()
    assert of(family, *names) == of(family, *reversed(names)) == chosen


def test_within_a_generation_the_day_it_came_out_decides_where_all_have_one() -> None:
    early, late = ModelInfo(id="grok-4.30", created=100), ModelInfo(id="grok-4.4", created=90)
    assert newest([early, late], [("grok",)]) == "grok-4.30"
    assert newest([early, ModelInfo(id="grok-5", created=1)], [("grok",)]) == "grok-5"
    assert newest([early, ModelInfo(id="grok-4.4")], [("grok",)]) == "grok-4.4"


def test_what_will_be_retired_is_chosen_only_where_there_is_nothing_else() -> None:
    old, new = ModelInfo(id="kimi-k2"), ModelInfo(id="kimi-k3", deprecated=True)
    assert (newest([old, new], [("kimi", "k")]), newest([new], [("kimi", "k")])) == ("kimi-k2", "kimi-k3")
