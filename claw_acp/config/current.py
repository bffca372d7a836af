"""The configuration as it is now: files are looked at each time, and read again only when they have changed."""

from collections.abc import Mapping
from pathlib import Path
from typing import TypeAlias

from claw_acp.config.load import load_settings
from claw_acp.config.locations import Locations
from claw_acp.config.project import PROJECT_FILE
from claw_acp.config.settings import Settings

_Stamp: TypeAlias = tuple[int, int, int] | None


class CurrentSettings:
    """Settings by working directory, never older than the files they come from."""

    def __init__(self, *, locations: Locations, environ: Mapping[str, str]) -> None:
        self._locations = locations
        self._environ = environ
        self._known: dict[Path | None, tuple[tuple[_Stamp, _Stamp], Settings]] = {}

    def for_folder(self, cwd: Path | None) -> Settings:
        """The settings for work in `cwd` (None: no project). Never raises; see `load_settings`."""
        user = _stamp(self._locations.config_file)
        stamps = (user, None if cwd is None else _stamp(cwd / PROJECT_FILE))
        known = self._known.get(cwd)
        if known is not None and known[0] == stamps:
            return known[1]
        settings = load_settings(locations=self._locations, environ=self._environ, cwd=cwd)
        self._known[cwd] = (stamps, settings)
        return settings


def _stamp(path: Path) -> _Stamp:
    try:
        facts = path.stat()
    except OSError:
        return None
    return facts.st_mtime_ns, facts.st_size, facts.st_ino
