"""Where this program keeps its files. Nothing is created before something must be written."""

from collections.abc import Mapping
from pathlib import Path

from platformdirs import PlatformDirs

from claw_acp.config.paths import resolve_path
from claw_acp.core.errors import ConfigError
from claw_acp.core.value import Value

HOME_VARIABLE = "CLAW_ACP_HOME"

_PRIVATE = 0o700


class Locations(Value):
    """The four directories and the files in them. A path being here does not mean that it exists."""

    config_dir: Path
    data_dir: Path
    state_dir: Path
    cache_dir: Path

    @property
    def config_file(self) -> Path:
        """The user's configuration."""
        return self.config_dir / "config.toml"

    @property
    def credentials_file(self) -> Path:
        """The keys kept by logging in."""
        return self.config_dir / "credentials.toml"

    @property
    def database(self) -> Path:
        """Sessions and their journals."""
        return self.data_dir / "claw.db"

    @property
    def permissions_file(self) -> Path:
        """The "always" answers, by project."""
        return self.state_dir / "permissions.toml"

    @property
    def log_dir(self) -> Path:
        """The log and its older parts."""
        return self.state_dir / "log"

    @property
    def lock_dir(self) -> Path:
        """One lock file a session that is being run."""
        return self.state_dir / "locks"


def find_locations(environ: Mapping[str, str]) -> Locations:
    """`CLAW_ACP_HOME` as one directory for everything, else where the platform wants such files.

    Without `CLAW_ACP_HOME` the answer also depends on the process environment (`HOME`, `XDG_*`), which platformdirs
    reads itself.
    """
    if home := environ.get(HOME_VARIABLE):
        root = resolve_path(home, directory=Path.cwd(), home=environ.get("HOME", ""))
        return Locations(config_dir=root, data_dir=root, state_dir=root, cache_dir=root / "cache")
    dirs = PlatformDirs("claw-acp", appauthor=False)
    return Locations(
        config_dir=dirs.user_config_path,
        data_dir=dirs.user_data_path,
        state_dir=dirs.user_state_path,
        cache_dir=dirs.user_cache_path,
    )


def private_directory(directory: Path) -> Path:
    """`directory`, created with mode 0700 (as are missing parents) if it is not there.

    Raises:
        ConfigError: It cannot be created; the text says why and what to do.
    """
    missing = [directory, *directory.parents]
    try:
        missing = missing[: next(index for index, path in enumerate(missing) if path.exists())]
        for path in reversed(missing):
            path.mkdir(mode=_PRIVATE, exist_ok=True)
        if not directory.is_dir():
            raise NotADirectoryError(20, "it is a file, not a directory")
    except OSError as error:
        raise ConfigError(
            f"the directory {directory} cannot be created: {error.strerror or error}; "
            f"set {HOME_VARIABLE} to a directory you can write to"
        ) from error
    return directory
