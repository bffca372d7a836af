"""`python -m claw_acp.providers.catalog.reference_build DIRECTORY`: write the model facts of `genai-prices`.

A process of its own, as the package takes 30 MB and a third of a second to load, and is needed once a day.
"""

import argparse
import json
import sys
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path

from genai_prices import UpdatePrices, __version__
from genai_prices.data_snapshot import DataSnapshot, get_snapshot
from genai_prices.types import (
    ClauseAnd,
    ClauseContains,
    ClauseEndsWith,
    ClauseEquals,
    ClauseOr,
    ClauseRegex,
    ClauseStartsWith,
    MatchLogic,
    ModelInfo,
    ModelPrice,
    StartDateConstraint,
    TieredPrices,
    TimeOfDateConstraint,
)

from claw_acp.config.atomic_file import put_in_place
from claw_acp.contracts.model_price import Price, Rate
from claw_acp.core.clock import SYSTEM_CLOCK
from claw_acp.core.json_value import JsonObject, JsonValue
from claw_acp.core.money import DOLLAR
from claw_acp.core.private_directory import make_private
from claw_acp.providers.catalog.price_rows import price_rows
from claw_acp.providers.catalog.reference import BEDROCK, INDEX, VERSION
from claw_acp.providers.registry.services import SERVICES

_PLANS = frozenset({"zai-coding", "glm-coding", "kimi-code"})  # paid by the month, whatever the address resembles
_MEMBERS = ("cache_read_mtok", "cache_write_mtok")


def main(argv: Sequence[str]) -> int:
    """Write the files; the index last, so that concurrent readers find everything it names."""
    parser = argparse.ArgumentParser(description="Write what is published of models.")
    parser.add_argument("directory", type=Path)
    parser.add_argument("--update", action="store_true", help="fetch what is newer than the installed package")
    options = parser.parse_args(argv)
    make_private(options.directory)
    snapshot, source = _snapshot(update=options.update)
    now = SYSTEM_CLOCK.now()
    for name, content in files(snapshot, now=now, source=source):
        put_in_place(options.directory / name, json.dumps(content, separators=(",", ":")))
    return 0


def files(snapshot: DataSnapshot, *, now: float, source: str) -> Iterator[tuple[str, JsonObject]]:
    """The names and contents of the files, the index last."""
    day = datetime.fromtimestamp(now, tz=UTC)
    for provider in snapshot.providers:
        yield f"{provider.id}.json", {"models": [_row(model, day) for model in provider.models]}
    yield (
        INDEX,
        {
            "version": VERSION,
            "built": int(now),
            "source": source,
            "services": _services(snapshot),
            "patterns": {provider.api_pattern: provider.id for provider in snapshot.providers},
            "others": {
                provider.id: list[JsonValue](provider.fallback_model_providers)
                for provider in snapshot.providers
                if provider.fallback_model_providers
            },
        },
    )


def _snapshot(*, update: bool) -> tuple[DataSnapshot, str]:
    """The newest data, or what is installed if nothing newer can be fetched."""
    if update:
        try:
            fetched = UpdatePrices().fetch()
        except Exception as error:  # noqa: BLE001 - of a stranger's client; the installed data serves as well
            print(f"nothing newer than the installed prices: {error}", file=sys.stderr)  # noqa: T201 - a program
        else:
            if fetched is not None:
                return fetched, "fetched"
    return get_snapshot(), f"genai-prices {__version__}"


def _services(snapshot: DataSnapshot) -> JsonObject:
    """The known services by address; an empty name means that its prices are not the vendor's."""
    addresses = {service.base_url: service.name in _PLANS for service in SERVICES.values() if service.base_url}
    found: dict[str, JsonValue] = {BEDROCK: "aws"}
    for address, plan in addresses.items():
        try:
            found[address] = "" if plan else snapshot.find_provider(None, None, address).id
        except LookupError:
            continue
    return found


def _row(model: ModelInfo, day: datetime) -> JsonObject:
    row: dict[str, JsonValue] = {"id": _own_name(model), "match": _clause(model.match)}
    if model.name:
        row["name"] = model.name
    if model.context_window:
        row["window"] = model.context_window
    if model.deprecated:
        row["deprecated"] = True
    if prices := price_rows(list(_prices(model, day))):
        row["prices"] = prices
    return row


def _own_name(model: ModelInfo) -> str:
    """The id in the vendor's own capitals, if another spelling is the same name."""
    spellings = [model.id, *_equals(model.match)]
    return max((each for each in spellings if each.lower() == model.id.lower()), key=lambda each: each != each.lower())


def _equals(clause: MatchLogic) -> Iterator[str]:
    if isinstance(clause, ClauseEquals):
        yield clause.equals
    elif isinstance(clause, ClauseOr):
        for part in clause.or_:
            yield from _equals(part)


def _clause(clause: MatchLogic) -> JsonValue:
    match clause:
        case ClauseEquals(equals=text):
            return ["=", text.lower()]
        case ClauseStartsWith(starts_with=text):
            return ["^", text.lower()]
        case ClauseEndsWith(ends_with=text):
            return ["$", text.lower()]
        case ClauseContains(contains=text):
            return ["*", text.lower()]
        case ClauseRegex(regex=pattern):
            return ["~", pattern]
        case ClauseOr(or_=parts):
            return ["|", *map(_clause, parts)]
        case ClauseAnd(and_=parts):
            return ["&", *map(_clause, parts)]


def _prices(model: ModelInfo, day: datetime) -> Iterator[Price]:
    """Prices in force on a day, by the hour if that matters: of several that apply, the last."""
    if isinstance(model.prices, ModelPrice):
        price = _price(model.prices)
        if price is not None:
            yield price
        return
    always: Price | None = None
    for conditional in model.prices:
        hours: tuple[int, int] | None = None
        match conditional.constraint:
            case StartDateConstraint() as since if not since.active(day):
                continue
            case TimeOfDateConstraint(start_time=start, end_time=end):
                hours = (start.hour * 60 + start.minute, end.hour * 60 + end.minute)
            case _:
                pass
        price = _price(conditional.prices, hours=hours)
        if hours is None:
            always = price
        elif price is not None:
            if always is not None:
                yield always
                always = None
            yield price
    if always is not None:
        yield always


def _price(prices: ModelPrice, *, hours: tuple[int, int] | None = None) -> Price | None:
    sent: Decimal | TieredPrices | None = getattr(prices, "input_mtok", None)
    answered: Decimal | TieredPrices | None = getattr(prices, "output_mtok", None)
    if sent is None or answered is None:
        return None
    values = [sent, answered, *(getattr(prices, name, None) for name in _MEMBERS)]
    tiers = sent.tiers if isinstance(sent, TieredPrices) else ()
    long = _rate(
        [value.tiers[-1].price if isinstance(value, TieredPrices) and value.tiers else value for value in values]
    )
    return Price(rate=_rate(values), above=tiers[0].start if tiers else 0, long=long if tiers else None, hours=hours)


def _rate(values: Sequence[Decimal | TieredPrices | None]) -> Rate:
    numbers = [value.base if isinstance(value, TieredPrices) else value for value in values]
    sent, answered, read, written = (None if each is None else int(each * DOLLAR / 1_000_000) for each in numbers)
    return Rate(input=sent or 0, output=answered or 0, cached_read=read, cached_write=written)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
