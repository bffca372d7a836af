"""The locations of this program's files. Nothing is created before something must be written."""

import sys
from collections.abc import Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Final

from claw_acp.config.paths import resolve_path
from claw_acp.core.errors import ConfigError
from claw_acp.core.private_directory import make_private
from claw_acp.core.value import Value

HOME_VARIABLE = "CLAW_ACP_HOME"

_NAME: Final = "claw-acp"
_PRIVATE: Final = 0o700
_XDG: Final = {
    "config_dir": ("XDG_CONFIG_HOME", ".config"),
    "data_dir": ("XDG_DATA_HOME", ".local/share"),
    "state_dir": ("XDG_STATE_HOME", ".local/state"),
    "cache_dir": ("XDG_CACHE_HOME", ".cache"),
}
"""The variable for each directory, and its default below the home (XDG Base Directory Specification 0.8)."""


class Locations(Value):
    """The four directories and the files in them, which need not exist."""

    config_dir: Path
    data_dir: Path
    state_dir: Path
    cache_dir: Path

    @property
    def directories(self) -> Sequence[Path]:
        """The four directories."""
        return self.config_dir, self.data_dir, self.state_dir, self.cache_dir

    @property
    def files(self) -> Sequence[Path]:
        """The files and folders in them that hold what a person configured, said or was told."""
        own = (
            self.config_file, self.credentials_file, self.schedules_file, self.permissions_file, self.trust_file,
            self.content_dir, self.results_dir, self.audit_dir, self.audit_key_file, self.audit_checkpoints_file,
            self.memory_off_file, self.memory_dir,
        )  # fmt: skip
        databases = (self.database, self.memory_database)
        beside = (file.with_name(f"{file.name}{end}") for file in databases for end in ("", "-wal", "-shm"))
        return *own, self.log_dir, self.lock_dir, *beside

    @property
    def config_file(self) -> Path:
        """The user's configuration."""
        return self.config_dir / "config.toml"

    @property
    def instruction_files(self) -> Sequence[Path]:
        """The files with the person's instructions for all sessions."""
        return [self.config_dir / name for name in ("SOUL.md", "USER.md", "TOOLS.md", "AGENTS.md", "CLAUDE.md")]

    @property
    def credentials_file(self) -> Path:
        """The keys stored by logging in."""
        return self.config_dir / "credentials.toml"

    @property
    def schedules_file(self) -> Path:
        """The jobs that people write by hand."""
        return self.config_dir / "schedules.toml"

    @property
    def schedule_dir(self) -> Path:
        """The lease of the process that fires jobs."""
        return self.state_dir / "schedule"

    @property
    def audit_dir(self) -> Path:
        """The audit log."""
        return self.state_dir / "audit"

    @property
    def audit_key_file(self) -> Path:
        """The key that signs the audit log's checkpoints."""
        return self.data_dir / "audit.key"

    @property
    def audit_checkpoints_file(self) -> Path:
        """The checkpoints, which are of no use to whoever can write the log if they can be written there, too."""
        return self.data_dir / "audit-checkpoints.jsonl"

    @property
    def database(self) -> Path:
        """Sessions and their journals."""
        return self.data_dir / "claw.db"

    @property
    def memory_database(self) -> Path:
        """What agents remember."""
        return self.data_dir / "memory.db"

    @property
    def memory_dir(self) -> Path:
        """What agents remember, where it is kept as Markdown."""
        return self.data_dir / "memory"

    @property
    def memory_off_file(self) -> Path:
        """The projects without memory."""
        return self.state_dir / "memory-off.json"

    @property
    def content_dir(self) -> Path:
        """The contents of files before they were changed."""
        return self.data_dir / "blobs"

    @property
    def results_dir(self) -> Path:
        """Large results of tool calls, in a folder for each session."""
        return self.data_dir / "results"

    @property
    def attempts_dir(self) -> Path:
        """The copies of projects that attempts work in, while they run."""
        return self.cache_dir / "attempts"

    @property
    def permissions_file(self) -> Path:
        """The "always" answers, by project."""
        return self.state_dir / "permissions.toml"

    @property
    def trust_file(self) -> Path:
        """The files of projects that the user trusts."""
        return self.state_dir / "trust.json"

    @property
    def log_dir(self) -> Path:
        """The log and its older parts."""
        return self.state_dir / "log"

    @property
    def lock_dir(self) -> Path:
        """One lock file for each session with a running turn."""
        return self.state_dir / "locks"


def find_locations(environ: Mapping[str, str]) -> Locations:
    """`CLAW_ACP_HOME` as one directory for everything, else the platform's directories."""
    if home := environ.get(HOME_VARIABLE):
        root = resolve_path(home, directory=Path.cwd(), home=environ.get("HOME", ""))
        return Locations(config_dir=root, data_dir=root, state_dir=root, cache_dir=root / "cache")
    if sys.platform in {"darwin", "win32"}:
        dirs = import_module("platformdirs").PlatformDirs(_NAME, appauthor=False)  # elsewhere it would only cost time
        return Locations(**{name: getattr(dirs, f"user_{name.removesuffix('_dir')}_path") for name in _XDG})
    base = Path(environ.get("HOME") or Path.home())
    return Locations(
        **{name: _given(environ, variable) or base / below / _NAME for name, (variable, below) in _XDG.items()}
    )


def _given(environ: Mapping[str, str], variable: str) -> Path | None:
    """A directory from the environment; a relative one does not count, as the specification says."""
    path = Path(environ.get(variable, ""))
    return path / _NAME if path.is_absolute() else None


def private_directory(directory: Path) -> Path:
    """`directory`, created with mode 0700 (as are missing parents) if it is not there.

    Raises:
        ConfigError: It cannot be created; the text says why and what to do.
    """
    try:
        make_private(directory)
    except OSError as error:
        raise ConfigError(
            f"the directory {directory} cannot be created: {error.strerror or error}; "
            f"set {HOME_VARIABLE} to a directory you can write to"
        ) from error
    return directory
