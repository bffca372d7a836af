"""Large tool results: stored whole in a private file, of which the model sees the beginning, the end and the path.

The files lie below the data directory, in a folder for each session, named by their content: one that has the name has
seen the content. The policy lets `read_file` and `grep` read them without a question (`PolicyContext.is_result`). They
hold what the model may see: credentials are masked before.
"""

import logging
import os
from collections.abc import Sequence
from hashlib import blake2b
from pathlib import Path
from shutil import rmtree
from typing import Final

from anyio import to_thread

from claw_acp.agent.token_estimate import CHARACTERS_PER_TOKEN
from claw_acp.config.atomic_file import put_in_place
from claw_acp.config.locations import private_directory
from claw_acp.contracts.bounded import bounded_parts, shortened
from claw_acp.core.clock import Clock
from claw_acp.core.errors import ConfigError
from claw_acp.core.messages import ContentPart, ResourcePart, TextPart

log = logging.getLogger(__name__)

LARGEST: Final = 8_000 * CHARACTERS_PER_TOKEN
"""Characters of text up to which a result stays as it is."""

SHOWN: Final = 3_000 * CHARACTERS_PER_TOKEN
"""Characters of a larger one that the model sees: two thirds of its beginning, one third of its end."""

LARGEST_STORED: Final = 4_000_000
"""Characters of one result that are stored; the middle of a longer one is left out."""

MOST_STORED: Final = 64_000_000
"""Bytes of a session's folder. When it is full, the oldest files go."""

KEPT: Final = 30 * 86_400
"""Seconds after which a session's folder is removed if nothing was added meanwhile."""

_LINE: Final = 1_500  # characters; `read_file` shows lines of up to 2,000


class LargeResults:
    """The large results of one session.

    Args:
        directory: Holds the folders of all sessions.
        session: The session's id.
        clock: Time.
    """

    def __init__(self, directory: Path, *, session: str, clock: Clock) -> None:
        self._directory = directory
        self._clock = clock
        self._folder = directory / session
        self._swept = False

    async def shortened(self, parts: Sequence[ContentPart]) -> tuple[ContentPart, ...]:
        """The parts for the model. If their text is large, it is stored; if that fails, its middle is lost."""
        texts = [text for part in parts if (text := _text(part))]
        size = sum(map(len, texts))
        if size <= LARGEST:
            return tuple(parts)
        whole = "\n".join(texts)
        try:
            path, lines = await to_thread.run_sync(self._store, whole)
        except (OSError, ConfigError) as error:
            log.warning("large result not stored", extra={"characters": size, "reason": str(error)})
            return bounded_parts(parts)
        where = (
            f"\n\n[The whole result has {size:,} characters. It is stored in {path} ({lines:,} lines): read on there "
            "with `read_file` (`line`, `limit`), or search it with `grep`.]"
        )
        seen = TextPart(text=shortened(whole, room=SHOWN) + where)
        return (seen, *bounded_parts(part for part in parts if not _text(part)))

    def _store(self, text: str) -> tuple[Path, int]:
        """Store a text, with long lines wrapped; returns its file and the number of its lines."""
        lines = [piece for line in text.replace("\0", "\ufffd").split("\n") for piece in _wrapped(line)]
        body = "\n".join(lines).encode("utf-8", "replace").decode()
        path = self._folder / f"{blake2b(body.encode(), digest_size=16).hexdigest()}.txt"
        os.utime(private_directory(self._folder))  # it is in use
        if not self._swept:
            self._swept = True
            self._sweep()
        if path.exists():
            os.utime(path)
        else:
            self._make_room(len(body))
            put_in_place(path, body)
        return path, len(lines)

    def _make_room(self, size: int) -> None:
        files = sorted((found.stat().st_mtime, found.stat().st_size, found) for found in self._folder.iterdir())
        stored = size + sum(length for _, length, _ in files)
        for _, length, file in files:
            if stored <= MOST_STORED:
                return
            file.unlink(missing_ok=True)
            stored -= length

    def _sweep(self) -> None:
        """Remove the folders of sessions that have stored nothing for a long time."""
        for folder in self._directory.iterdir():
            if folder.stat().st_mtime < self._clock.now() - KEPT:
                rmtree(folder, ignore_errors=True)


def remove_results(directory: Path, *, session: str) -> None:
    """Remove the results of a session that was deleted; there may be none, and the id may be anything."""
    if session.isidentifier():
        rmtree(directory / session, ignore_errors=True)


def _text(part: ContentPart) -> str:
    return part.text or "" if isinstance(part, TextPart | ResourcePart) else ""


def _wrapped(line: str) -> list[str]:
    return [line[start : start + _LINE] for start in range(0, len(line), _LINE)] or [""]
