"""Published facts about models, cached on disk: prices, windows, retirement.

A small file for each service, so that a session reads only its own; `reference_build` writes them.
"""

import json
import logging
import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final, cast

from claw_acp.contracts.provider import ModelInfo, ModelReference
from claw_acp.core.json_value import JsonObject, JsonValue
from claw_acp.providers.catalog.price_rows import prices_in
from claw_acp.providers.transport.wire import items_at, number_at, object_at, text_at

VERSION: Final = 1
INDEX: Final = "index.json"
SIZE_LIMIT: Final = 4 * 1024 * 1024  # bytes of a file that is read
BEDROCK: Final = "https://bedrock-runtime.us-east-1.amazonaws.com/"
"""Stands for every region of a service that has no address of its own."""

log = logging.getLogger(__name__)


class KeptReference:
    """The cached files of a directory. Each is read when it is first needed; facts that are missing are unknown.

    Attributes:
        built: When they were written, in seconds since the Unix epoch; 0 when there are none.
    """

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._index = _read(directory / INDEX)
        usable = self._index.get("version") == VERSION
        self.built = number_at(self._index, "built") if usable else 0
        self._services = object_at(self._index if usable else {}, "services")
        self._rows: dict[str, Sequence[JsonObject]] = {}
        self._known: dict[tuple[str, str], ModelInfo | None] = {}

    def models(self, base_url: str) -> Sequence[ModelInfo]:
        """The models of a service, by its own names for them, with their retirement; see `about`."""
        rows = self._rows_of(self._service(base_url))
        return [ModelInfo(id=text_at(row, "id"), deprecated=row.get("deprecated") is True or None) for row in rows]

    def about(self, base_url: str, model: str) -> ModelInfo | None:
        """The facts about a model of a service, which may resell another service's."""
        place = (base_url, model)
        if place not in self._known:
            self._known[place] = self._find(self._service(base_url), model)
        return self._known[place]

    def _find(self, name: str, model: str) -> ModelInfo | None:
        sellers = [name, *(str(other) for other in items_at(object_at(self._index, "others"), name))]
        for seller in sellers:
            for row in self._rows_of(seller):
                if matches(row.get("match"), model.lower()):
                    return _info(row, model)
        return None

    def _service(self, base_url: str) -> str:
        address = base_url or BEDROCK
        if address in self._services:
            return text_at(self._services, address)
        patterns = object_at(self._index if self.built else {}, "patterns")
        return next((str(name) for pattern, name in patterns.items() if re.match(pattern, address)), "")

    def _rows_of(self, name: str) -> Sequence[JsonObject]:
        if name and name not in self._rows:
            kept = items_at(_read(self._directory / f"{name}.json"), "models")
            self._rows[name] = [row for row in kept if isinstance(row, Mapping)]
        return self._rows.get(name, ())


def matches(clause: JsonValue, text: str) -> bool:
    """True if a lower-case name matches a stored clause."""
    match clause:
        case ["=", str(wanted)]:
            return text == wanted
        case ["^", str(wanted)]:
            return text.startswith(wanted)
        case ["$", str(wanted)]:
            return text.endswith(wanted)
        case ["*", str(wanted)]:
            return wanted in text
        case ["~", str(pattern)]:
            return bool(re.search(pattern, text))
        case ["|", *parts]:
            return any(matches(part, text) for part in parts)
        case ["&", *parts]:
            return all(matches(part, text) for part in parts)
        case _:
            return False


def _info(row: JsonObject, model: str) -> ModelInfo:
    return ModelInfo(
        id=model,
        name=text_at(row, "name") or None,
        context_window=max(0, number_at(row, "window")),
        deprecated=row.get("deprecated") is True or None,
        prices=prices_in(row),
    )


def _read(path: Path) -> JsonObject:
    try:
        with path.open("rb") as file:
            size = min(os.fstat(file.fileno()).st_size, SIZE_LIMIT)  # a larger buffer takes a millisecond to get
            value: JsonValue = json.loads(file.read(size))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, RecursionError) as error:
        log.info("reference of models ignored", extra={"file": str(path), "reason": type(error).__name__})
        return {}
    return cast("JsonObject", value) if isinstance(value, dict) else {}


if TYPE_CHECKING:
    _conforms: type[ModelReference] = KeptReference
