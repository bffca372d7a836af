"""What vendors charge, as data: US dollars for a million tokens, for those who call the vendor itself.

A model that is not here has no known price, whatever its name resembles. So have the same models through other
services, and models whose price depends on the hour (DeepSeek). Batches are not here: nobody here sends any.
"""

from typing import Final, NamedTuple


class Source(NamedTuple):
    """The vendor's page with the prices, and the day or month on which it said so: from dated copies of that page."""

    page: str
    read: str


class Tier(NamedTuple):
    """Prices of input, output, input read from a cache, input kept in a cache (None: as any input)."""

    input: float
    output: float
    cached_read: float | None = None
    cached_write: float | None = None


class Row(NamedTuple):
    """One model of a vendor; requests of more than `above` tokens are billed at `long`."""

    model: str
    price: Tier
    source: Source
    above: int = 0
    long: Tier | None = None


_CLAUDE = Source("https://platform.claude.com/docs/en/about-claude/pricing", "2026-10-24")
_OPENAI = Source("https://developers.openai.com/api/docs/pricing", "2026-03-21")
_GPT_5_2 = Source("https://openai.com/index/introducing-gpt-5-2/", "2025-12")
_GEMINI = Source("https://ai.google.dev/gemini-api/docs/pricing", "2026-03")

_OPUS = Tier(5, 25, 0.50, 6.25)
_OLD_OPUS = Tier(15, 75, 1.50, 18.75)
_SONNET = Tier(3, 15, 0.30, 3.75)
_GPT_5 = Tier(1.25, 10, 0.125)

# Anthropic: a cache is written for five minutes, as we ask for.
_ANTHROPIC = (
    Row("claude-fable-5-1", Tier(10, 50, 0.25, 12.50), _CLAUDE),
    Row("claude-fable-5", Tier(10, 50, 1, 12.50), _CLAUDE),
    Row("claude-opus-5-5", Tier(4, 20, 0.20, 5), _CLAUDE),
    *(Row(f"claude-opus-{version}", _OPUS, _CLAUDE) for version in ("5", "4-8", "4-7", "4-6", "4-5")),
    *(Row(f"claude-opus-{version}", _OLD_OPUS, _CLAUDE) for version in ("4-1", "4-0", "4")),
    Row("claude-sonnet-5-5", Tier(2, 10, 0.10, 2.50), _CLAUDE),
    Row("claude-sonnet-5", Tier(2, 10, 0.20, 2.50), _CLAUDE),
    *(Row(f"claude-sonnet-{version}", _SONNET, _CLAUDE) for version in ("4-6", "4-5", "4-0", "4")),
    Row("claude-3-7-sonnet", _SONNET, _CLAUDE),
    Row(
        "claude-haiku-5-5",
        Tier(0.10, 0.50, 0.01, 0.125),
        _CLAUDE,
        above=100_000,
        long=Tier(0.50, 2.50, 0.05, 0.625),
    ),
    Row("claude-haiku-4-5", Tier(1, 5, 0.10, 1.25), _CLAUDE),
    Row("claude-3-5-haiku", Tier(0.80, 4, 0.08, 1), _CLAUDE),
)
_OF_OPENAI = (
    *(Row(name, _GPT_5, _OPENAI) for name in ("gpt-5.1", "gpt-5", "gpt-5-codex", "gpt-5.1-codex")),
    *(Row(name, Tier(1.75, 14, 0.175), _GPT_5_2) for name in ("gpt-5.2", "gpt-5.2-codex")),
    Row("gpt-5-mini", Tier(0.25, 2, 0.025), _OPENAI),
    Row("gpt-5-nano", Tier(0.05, 0.40, 0.005), _OPENAI),
    Row("gpt-5-pro", Tier(15, 120), _OPENAI),
    Row("gpt-4.1", Tier(2, 8, 0.50), _OPENAI),
    Row("gpt-4.1-mini", Tier(0.40, 1.60, 0.10), _OPENAI),
    Row("gpt-4.1-nano", Tier(0.10, 0.40, 0.025), _OPENAI),
    Row("gpt-4o", Tier(2.50, 10, 1.25), _OPENAI),
    Row("gpt-4o-2024-05-13", Tier(5, 15), _OPENAI),
    Row("gpt-4o-mini", Tier(0.15, 0.60, 0.075), _OPENAI),
    Row("o3", Tier(2, 8, 0.50), _OPENAI),
    Row("o3-mini", Tier(1.10, 4.40, 0.55), _OPENAI),
    Row("o4-mini", Tier(1.10, 4.40, 0.275), _OPENAI),
)
# Google: text and pictures; sound costs more, and the free tier nothing.
_GOOGLE = (
    Row("gemini-2.5-pro", Tier(1.25, 10, 0.125), _GEMINI, above=200_000, long=Tier(2.50, 15, 0.25)),
    Row("gemini-2.5-flash", Tier(0.30, 2.50, 0.03), _GEMINI),
    Row("gemini-2.5-flash-lite", Tier(0.10, 0.40, 0.01), _GEMINI),
)

VENDORS: Final = {"anthropic": _ANTHROPIC, "openai": _OF_OPENAI, "openai-responses": _OF_OPENAI, "gemini": _GOOGLE}
"""The rows of each service that belongs to the vendor itself, by the service's name."""
