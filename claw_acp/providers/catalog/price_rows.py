"""The stored form of prices: `[input, output, cached read, cached write]` in whole picodollars for a token."""

from collections.abc import Mapping, Sequence

from claw_acp.contracts.model_price import Price, Rate
from claw_acp.core.json_value import JsonObject, JsonValue
from claw_acp.providers.transport.wire import items_at, number_at


def price_rows(prices: Sequence[Price]) -> list[JsonValue]:
    """The stored form of prices."""
    return [_row(price) for price in prices]


def prices_in(row: JsonObject) -> tuple[Price, ...]:
    """The prices of a stored row; unreadable ones are left out."""
    kept = (_price(each) for each in items_at(row, "prices") if isinstance(each, Mapping))
    return tuple(price for price in kept if price is not None)


def _row(price: Price) -> JsonObject:
    row: dict[str, JsonValue] = {"rate": _numbers(price.rate)}
    if price.long is not None:
        row |= {"above": price.above, "long": _numbers(price.long)}
    if price.hours is not None:
        row["hours"] = list(price.hours)
    return row


def _numbers(rate: Rate) -> list[JsonValue]:
    return [rate.input, rate.output, rate.cached_read, rate.cached_write]


def _price(row: JsonObject) -> Price | None:
    rate, hours = _rate(row, "rate"), _whole(row, "hours")
    if rate is None:
        return None
    between = (hours[0], hours[1]) if len(hours) == 2 and hours[0] is not None and hours[1] is not None else None
    return Price(rate=rate, above=max(0, number_at(row, "above")), long=_rate(row, "long"), hours=between)


def _rate(row: JsonObject, name: str) -> Rate | None:
    match _whole(row, name):
        case [int(sent), int(answered), read, written]:
            return Rate(input=sent, output=answered, cached_read=read, cached_write=written)
        case _:
            return None


def _whole(row: JsonObject, name: str) -> Sequence[int | None]:
    """A list of numbers; anything but a whole number from 0 on becomes None."""
    return [
        each if isinstance(each, int) and not isinstance(each, bool) and each >= 0 else None
        for each in items_at(row, name)
    ]
