"""Lists of models that were fetched, kept on disk so that the next start has them at once."""

import json
import logging
import os
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import cast

from claw_acp.contracts.provider import ModelInfo
from claw_acp.core.json_value import JsonObject, JsonValue
from claw_acp.core.value import Value, as_dict
from claw_acp.providers.wire import items_at, number_at, text_at

LIFE = 24 * 3600.0  # seconds a list is taken for new
SIZE_LIMIT = 1024 * 1024  # bytes of a file that is read
_VERSION = 1
_ABILITIES = ("tools", "images", "thinking")

log = logging.getLogger(__name__)


class Listing(Value):
    """A list as it was fetched; `fetched` is in seconds since the Unix epoch."""

    models: tuple[ModelInfo, ...]
    fetched: float

    def is_new(self, now: float) -> bool:
        """Whether it need not be fetched again."""
        return 0 <= now - self.fetched < LIFE


class Catalog:
    """One small file for each provider; a list counts only for the address that it came from.

    Args:
        directory: Where they are; made with the first.
    """

    def __init__(self, directory: Path) -> None:
        self._directory = directory

    def read(self, provider: str, base_url: str) -> Listing | None:
        """The list that is kept; None when there is none for this address, or it cannot be read. Blocks briefly."""
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
        """Keep a list, in one step: whoever reads meanwhile sees the old one or the new one. Blocks.

        Raises:
            OSError: It cannot be kept.
        """
        rows = [{field: said for field, said in as_dict(model).items() if said or said is False} for model in models]
        text = json.dumps({"version": _VERSION, "baseUrl": base_url, "fetched": now, "models": rows})
        self._directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=self._directory, prefix=".", suffix=".json")
        try:
            with os.fdopen(handle, "w", encoding="utf-8") as file:
                file.write(text)
            Path(name).replace(self._path(provider))
        except BaseException:
            Path(name).unlink(missing_ok=True)
            raise

    def _path(self, provider: str) -> Path:
        return self._directory / f"{provider}.json"


def _model(row: JsonObject) -> ModelInfo:
    said = {ability: value for ability in _ABILITIES if isinstance(value := row.get(ability), bool)}
    return ModelInfo(
        id=text_at(row, "id"),
        name=text_at(row, "name") or None,
        description=text_at(row, "description") or None,
        context_window=max(0, number_at(row, "context_window")),
        created=max(0, number_at(row, "created")),
        **said,
    )
