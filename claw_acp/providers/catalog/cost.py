"""The cost of a model request: tokens times prices, in whole picodollars."""

from claw_acp.contracts.model_price import Price, Rate
from claw_acp.core.messages import Usage
from claw_acp.core.money import per_token

FREE = Price(rate=Rate(input=0, output=0))


def rate_of(
    input_price: float, output_price: float, cached_read: float | None = None, cached_write: float | None = None
) -> Rate:
    """A rate from US dollars for a million tokens."""
    return Rate(
        input=per_token(input_price),
        output=per_token(output_price),
        cached_read=None if cached_read is None else per_token(cached_read),
        cached_write=None if cached_write is None else per_token(cached_write),
    )


def cost_of(usage: Usage, price: Price) -> int:
    """Picodollars. Thoughts are part of the output, what a cache read or kept is part of the input (see `Usage`)."""
    rate = price.long if price.long is not None and usage.input_tokens > price.above else price.rate
    read, written = usage.cached_read_tokens, usage.cached_write_tokens
    plain = max(0, usage.input_tokens - read - written)
    return (
        plain * rate.input
        + read * (rate.input if rate.cached_read is None else rate.cached_read)
        + written * (rate.input if rate.cached_write is None else rate.cached_write)
        + usage.output_tokens * rate.output
    )
