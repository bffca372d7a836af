"""The detected protocols of plugins, remembered between processes in a small file of the cache."""

import hashlib
import json
import logging
import os
import shutil
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Literal
from weakref import WeakValueDictionary

import anyio

from claw_acp.config.locations import find_locations, private_directory
from claw_acp.config.safe_read import read_plain_file
from claw_acp.contracts.provider_setup import ProviderProgram
from claw_acp.core.errors import ConfigError
from claw_acp.core.json_value import JsonObject, JsonValue
from claw_acp.core.value import Value
from claw_acp.providers.binary.child import plugin_environment
from claw_acp.providers.binary.introduction import Offer, read_offer

FILE_NAME = "plugins.json"
KEPT = 64  # plugins; the one found longest ago is forgotten first
FILE_LIMIT = 1024 * 1024  # bytes; a larger file is not read
SILENCES = 2  # processes that let our greeting pass, until a program is taken for a one-shot one
SILENCE_LIFE = 24 * 3600.0  # seconds that is believed
OFFER_LIMIT = 16 * 1024  # bytes of what one plugin says about itself; more is asked for again

log = logging.getLogger(__name__)


class Finding(Value):
    """The detected protocol of a program.

    Attributes:
        protocol: The protocol.
        offer: The last self-description of a session plugin.
        silences: The number of its processes in turn that ignored `initialize`; 0: its protocol was detected.
        at: The time of the last of them, in seconds since the Unix epoch.
    """

    protocol: Literal["oneshot", "session"]
    offer: Offer | None = None
    silences: int = 0
    at: float = 0.0

    def holds(self, now: float) -> bool:
        """True if it is reliable. A slow start is silent too: two silences are needed, and they count for a day."""
        return not self.silences or (self.silences >= SILENCES and 0 <= now - self.at < SILENCE_LIFE)


class Probe:
    """Detection of one program's protocol: by one task at a time in this process; waiting ones share the result."""

    def __init__(self) -> None:
        self._turns = anyio.Lock()
        self._found: Finding | None = None
        self._count = 0

    @asynccontextmanager
    async def turn(self) -> AsyncGenerator[Finding | None]:
        """Wait for a turn; yields what another task has found meanwhile, or None if this one has to detect."""
        before = self._count
        async with self._turns:
            yield self._found if self._count != before else None

    def tell(self, finding: Finding | None) -> None:
        """Set the finding of this turn."""
        self._found = finding
        self._count += 1


_PROBES: WeakValueDictionary[ProviderProgram, Probe] = WeakValueDictionary()


def probe_of(program: ProviderProgram) -> Probe:
    """The shared probe of a program, as long as any task holds it."""
    return _PROBES.setdefault(program, Probe())


class Memory:
    """The file of findings. Every method blocks for a moment; a missing or damaged file is empty."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @classmethod
    def of_user(cls) -> "Memory":
        """The file in the user's cache directory."""
        return cls(find_locations(os.environ).cache_dir / FILE_NAME)

    def recall(self, program: ProviderProgram) -> Finding | None:
        """The finding about this program, if the program has not changed since."""
        row = self._rows().get(_key(program))
        if not isinstance(row, dict):
            return None
        match row.get("protocol"):
            case "oneshot":
                silences, at = row.get("silences"), row.get("at")
                if type(silences) is not int or not isinstance(at, int | float):
                    return None  # written before silence was told from words
                return Finding(protocol="oneshot", silences=max(0, silences), at=float(at))
            case "session":
                return Finding(protocol="session", offer=read_offer(row.get("offer")))
            case _:
                return None

    def keep(self, program: ProviderProgram, finding: Finding | None) -> None:
        """Store a finding; None: remove the stored one. A failure only makes the next start slower."""
        rows = dict(self._rows())
        key = _key(program)
        rows.pop(key, None)
        if finding is not None:
            rows[key] = _row(finding)
        kept = dict([*rows.items()][-KEPT:])
        draft = self.path.with_name(f"{self.path.name}.{os.getpid()}")
        try:
            private_directory(self.path.parent)
            draft.write_text(json.dumps(kept), encoding="utf-8")
            draft.replace(self.path)
        except (OSError, ConfigError) as error:
            log.info("how a plugin speaks is not remembered", extra={"reason": str(error)})
            with suppress(OSError):
                draft.unlink(missing_ok=True)

    def _rows(self) -> Mapping[str, JsonValue]:
        try:
            value: JsonValue = json.loads(read_plain_file(self.path, limit=FILE_LIMIT))
        except (OSError, ValueError, RecursionError):
            return {}
        return value if isinstance(value, dict) else {}


def _row(finding: Finding) -> JsonObject:
    said = finding.offer.said if finding.offer else None
    small = len(json.dumps(said)) <= OFFER_LIMIT
    offer = said if small else None
    return {"protocol": finding.protocol, "offer": offer, "silences": finding.silences, "at": finding.at}


def _key(program: ProviderProgram) -> str:
    """The program's file and arguments with their modification times: an argument may name the script to run."""
    path = shutil.which(program.command, path=plugin_environment(program).get("PATH")) or program.command
    folder = program.cwd or Path.cwd()
    stamps = [_changed(folder / word) for word in (path, *program.args)]
    return hashlib.sha256(json.dumps([str(folder / path), *program.args, *stamps]).encode()).hexdigest()


def _changed(path: Path) -> int:
    try:
        return path.stat().st_mtime_ns
    except (OSError, ValueError):  # most arguments are no files
        return 0
