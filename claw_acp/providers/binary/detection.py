"""How plugins were found to speak, remembered between processes in a small file of the cache."""

import hashlib
import json
import logging
import os
import shutil
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Literal

from claw_acp.config.locations import find_locations, private_directory
from claw_acp.config.plain_file import read_plain_file
from claw_acp.contracts.provider_setup import Program
from claw_acp.core.errors import ConfigError
from claw_acp.core.json_value import JsonObject, JsonValue
from claw_acp.core.value import Value
from claw_acp.providers.binary.child import plugin_environment
from claw_acp.providers.binary.offer import Offer, read_offer

FILE_NAME = "plugins.json"
KEPT = 64  # plugins; the one found longest ago is forgotten first
FILE_LIMIT = 1024 * 1024  # bytes; a larger file is not read
OFFER_LIMIT = 16 * 1024  # bytes of what one plugin says about itself; more is asked for again

log = logging.getLogger(__name__)


class Finding(Value):
    """How a program speaks; `offer` is what a session plugin said about itself when it was last asked."""

    protocol: Literal["oneshot", "session"]
    offer: Offer | None = None


class Memory:
    """The file. Every method blocks for a moment; a file that is missing or damaged holds nothing."""

    def __init__(self, path: Path) -> None:
        self._path = path

    @classmethod
    def of_user(cls) -> "Memory":
        """The file in the user's cache directory."""
        return cls(find_locations(os.environ).cache_dir / FILE_NAME)

    def recall(self, program: Program) -> Finding | None:
        """What was found out about this program, if it has not changed since."""
        row = self._rows().get(_key(program))
        if not isinstance(row, dict):
            return None
        match row.get("protocol"):
            case "oneshot":
                return Finding(protocol="oneshot")
            case "session":
                return Finding(protocol="session", offer=read_offer(row.get("offer")))
            case _:
                return None

    def keep(self, program: Program, finding: Finding | None) -> None:
        """Remember a finding; None: forget what was remembered. Failing to is only slower next time."""
        rows = dict(self._rows())
        key = _key(program)
        rows.pop(key, None)
        if finding is not None:
            rows[key] = _row(finding)
        kept = dict([*rows.items()][-KEPT:])
        draft = self._path.with_name(f"{self._path.name}.{os.getpid()}")
        try:
            private_directory(self._path.parent)
            draft.write_text(json.dumps(kept), encoding="utf-8")
            draft.replace(self._path)
        except (OSError, ConfigError) as error:
            log.info("how a plugin speaks is not remembered", extra={"reason": str(error)})
            with suppress(OSError):
                draft.unlink(missing_ok=True)

    def _rows(self) -> Mapping[str, JsonValue]:
        try:
            value: JsonValue = json.loads(read_plain_file(self._path, limit=FILE_LIMIT))
        except (OSError, ValueError, RecursionError):
            return {}
        return value if isinstance(value, dict) else {}


def _row(finding: Finding) -> JsonObject:
    said = finding.offer.said if finding.offer else None
    small = len(json.dumps(said)) <= OFFER_LIMIT
    return {"protocol": finding.protocol, "offer": said if small else None}


def _key(program: Program) -> str:
    """The program's file and arguments, and when they were last changed: an argument may name the script to run."""
    path = shutil.which(program.command, path=plugin_environment(program).get("PATH")) or program.command
    folder = program.cwd or Path.cwd()
    stamps = [_changed(folder / word) for word in (path, *program.args)]
    return hashlib.sha256(json.dumps([str(folder / path), *program.args, *stamps]).encode()).hexdigest()


def _changed(path: Path) -> int:
    try:
        return path.stat().st_mtime_ns
    except (OSError, ValueError):  # most arguments are no files
        return 0
