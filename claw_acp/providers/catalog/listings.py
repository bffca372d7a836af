"""Fetched model lists, cached on disk for the next start."""

import json
import logging
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import cast

from claw_acp.config.atomic_file import put_in_place
from claw_acp.contracts.provider import ModelInfo
from claw_acp.core.json_value import JsonObject, JsonValue
from claw_acp.core.private_directory import make_private
from claw_acp.core.value import Value
from claw_acp.providers.catalog.price_rows import price_rows, prices_in
from claw_acp.providers.transport.wire import items_at, number_at, text_at

LIFE = 24 * 3600.0  # seconds a list is taken for new
SIZE_LIMIT = 1024 * 1024  # bytes of a file that is read
_VERSION = 2
_ABILITIES = ("tools", "images", "audio", "thinking", "deprecated")

log = logging.getLogger(__name__)


class Listing(Value):
    """A fetched list; `fetched` is in seconds since the Unix epoch."""

    models: tuple[ModelInfo, ...]
    fetched: float

    def is_new(self, now: float) -> bool:
        """True if it need not be fetched again."""
        return 0 <= now - self.fetched < LIFE


class Catalog:
    """The cache, one small file for each provider; a list is valid only for the address that it came from.

    Args:
        directory: Its directory, created with the first file.
    """

    def __init__(self, directory: Path) -> None:
        self._directory = directory

    def read(self, provider: str, base_url: str) -> Listing | None:
        """The cached list; None if there is none for this address, or it cannot be read. Blocks briefly."""
        path = self._path(provider)
        try:
            with path.open("rb") as file:
                value: JsonValue = json.loads(file.read(SIZE_LIMIT))
        except FileNotFoundError:
            return None
        except (OSError, ValueError, RecursionError) as error:
            log.info("list of models ignored", extra={"file": str(path), "reason": type(error).__name__})
            return None
        if not isinstance(value, dict):
            return None
        kept = cast("JsonObject", value)
        fetched = kept.get("fetched")
        same = kept.get("version") == _VERSION and kept.get("baseUrl") == base_url
        if not same or isinstance(fetched, bool) or not isinstance(fetched, int | float):
            return None
        rows = (row for row in items_at(kept, "models") if isinstance(row, Mapping))
        return Listing(models=tuple(_model(row) for row in rows if text_at(row, "id")), fetched=float(fetched))

    def write(self, provider: str, base_url: str, *, models: Sequence[ModelInfo], now: float) -> None:
        """Cache a list, atomically for concurrent readers. Blocks.

        Raises:
            OSError: It cannot be written.
        """
        text = json.dumps({"version": _VERSION, "baseUrl": base_url, "fetched": now, "models": [*map(_row, models)]})
        make_private(self._directory)
        put_in_place(self._path(provider), text)

    def _path(self, provider: str) -> Path:
        return self._directory / f"{provider}.json"


def _row(model: ModelInfo) -> dict[str, object]:
    said: dict[str, object] = {field: getattr(model, field) for field in ModelInfo.fields}
    row = {field: value for field, value in said.items() if value or value is False}
    return {**row, "prices": price_rows(model.prices)} if model.prices else row


def _model(row: JsonObject) -> ModelInfo:
    said = {ability: value for ability in _ABILITIES if isinstance(value := row.get(ability), bool)}
    return ModelInfo(
        id=text_at(row, "id"),
        name=text_at(row, "name") or None,
        description=text_at(row, "description") or None,
        context_window=max(0, number_at(row, "context_window")),
        created=max(0, number_at(row, "created")),
        prices=prices_in(row),
        **said,
    )
