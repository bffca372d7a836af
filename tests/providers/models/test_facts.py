import pytest

from claw_acp.contracts.provider_setup import ProviderSetup
from claw_acp.providers.anthropic.provider import AnthropicProvider
from claw_acp.providers.models.facts import known_capabilities, takes_sampling, thinking_style


@pytest.mark.parametrize(
    ("model", "window", "images", "thinking"),
    [
        ("gpt-5-mini", 400_000, True, True),
        ("gpt-5.6-sol", 922_000, True, True),
        ("openai/gpt-6.2-sol", 922_000, True, True),
        ("openai/gpt-4o", 128_000, True, False),
        ("o3", 200_000, True, True),
        ("o3-mini", 128_000, False, True),
        ("claude-sonnet-4-5-20250929", 200_000, True, True),
        ("anthropic/claude-opus-4.8", 1_000_000, True, True),
        ("claude-opus-5-5", 1_000_000, True, True),
        ("claude-fable-5", 1_000_000, True, True),
        ("claude-haiku-4-5", 200_000, True, True),
        ("claude-3-5-haiku-latest", 200_000, True, False),
        ("deepseek-flash", 1_000_000, True, True),
        ("deepseek/deepseek-v4-pro", 1_000_000, False, True),
        ("deepseek-chat", 64_000, False, False),
        ("kimi-k2.6", 256_000, True, True),
        ("qwen2.5-vl-7b", 32_768, True, False),
        ("qwen3-coder", 262_144, False, False),
        ("somebodys-own-model", 0, True, False),
    ],
)
def test_models_are_known_by_name(model: str, window: int, *, images: bool, thinking: bool) -> None:
    known = known_capabilities(model)
    assert (known.context_window, known.images, known.thinking) == (window, images, thinking)


@pytest.mark.parametrize(
    ("model", "style"),
    [
        ("claude-3-opus-20240229", "none"),
        ("claude-3-7-sonnet-latest", "budget"),
        ("claude-opus-4-20250514", "budget"),
        ("claude-opus-4-1-20250805", "budget"),
        ("claude-haiku-4-5", "budget"),
        ("claude-sonnet-4-6", "adaptive"),
        ("claude-opus-4-7", "adaptive"),
        ("claude-something-9", "adaptive"),
    ],
)
def test_anthropic_models_think_in_their_own_way(model: str, style: str) -> None:
    assert thinking_style(model) == style


def test_the_newest_anthropic_models_take_no_sampling() -> None:
    assert [takes_sampling(model) for model in ("claude-sonnet-4-5", "claude-opus-4-7", "claude-sonnet-5")] == [
        True,
        False,
        False,
    ]


def test_a_provider_answers_for_its_models() -> None:
    assert AnthropicProvider(ProviderSetup(name="anthropic", kind="anthropic")).capabilities("claude-opus-4-5").thinking
