"""The caches of tools for confined commands: a directory for each project.

In the person's own caches a command could leave what runs outside later. Those stay readable: where a tool can take
finished downloads from there, it does.
"""

import os
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path
from typing import Final

from claw_acp.core.private_directory import make_private
from claw_acp.core.value import Value

_PRIVATE: Final = 0o700
_FOLDERS: Final = {
    "BUN_INSTALL_CACHE_DIR": "bun",
    "CCACHE_DIR": "ccache",
    "DENO_DIR": "deno",
    "GOCACHE": "go-build",
    "GOMODCACHE": "go-modules",
    "GRADLE_USER_HOME": "gradle",
    "PIP_CACHE_DIR": "pip",
    "POETRY_CACHE_DIR": "poetry",
    "PRE_COMMIT_HOME": "pre-commit",
    "SCCACHE_DIR": "sccache",
    "UV_CACHE_DIR": "uv",
    "XDG_CACHE_HOME": "other",
    "YARN_CACHE_FOLDER": "yarn",
    "npm_config_cache": "npm",
    "npm_config_store_dir": "pnpm",
}
"""The variables that name a cache, and its folder."""

_PROGRAMS: Final = (
    ("PLAYWRIGHT_BROWSERS_PATH", "ms-playwright", "ms-playwright"),
    ("PYRIGHT_PYTHON_CACHE_DIR", "pyright-python", ""),
)
"""The variables that name a place of programs in the person's cache, its folder there, and the path they hold."""

_PUBLIC_GO: Final = "https://proxy.golang.org,direct"


class ProjectCaches(Value):
    """The caches of a project.

    Attributes:
        directory: The directory that confined commands must be able to change.
        variables: The variables that lead tools to it.
    """

    directory: Path
    variables: Mapping[str, str]


def project_caches(project: Path, *, cache: Path, environ: Mapping[str, str], offline: bool) -> ProjectCaches:
    """The caches of a project, created if they are not there.

    Args:
        project: The root of the project.
        cache: The directory for our caches.
        environ: The variables that the command gets.
        offline: The command has no network.

    Raises:
        OSError: The directory cannot be created.
    """
    directory = cache / "projects" / sha256(os.fsencode(project)).hexdigest()[:32]
    make_private(directory)
    home = Path(environ.get("HOME", ""))
    variables = {name: str(directory / folder) for name, folder in _FOLDERS.items()}
    variables |= {**_go(environ, home), **_cargo(directory, offline=offline)}
    own = home / ".cache"
    for name, folder, path in _PROGRAMS:
        if name not in environ and (own / folder).is_dir():
            variables[name] = str(own / path)
    return ProjectCaches(directory=directory, variables=variables)


def _go(environ: Mapping[str, str], home: Path) -> dict[str, str]:
    """Modules are taken from the person's cache, as from a proxy, where they are in it."""
    settings = _go_settings(environ, home)
    path = environ.get("GOPATH") or settings.get("GOPATH") or str(home / "go")
    modules = environ.get("GOMODCACHE") or settings.get("GOMODCACHE") or str(Path(path) / "pkg" / "mod")
    downloads = Path(modules) / "cache" / "download"
    flags = f"{environ.get('GOFLAGS') or settings.get('GOFLAGS', '')} -modcacherw".strip()
    if not downloads.is_dir():
        return {"GOFLAGS": flags}
    proxy = environ.get("GOPROXY") or settings.get("GOPROXY") or _PUBLIC_GO
    return {"GOFLAGS": flags, "GOPROXY": f"{downloads.as_uri()},{proxy}"}


def _go_settings(environ: Mapping[str, str], home: Path) -> dict[str, str]:
    """What `go env -w` has stored."""
    folder = environ.get("XDG_CONFIG_HOME") or str(home / ".config")
    try:
        lines = (Path(folder) / "go" / "env").read_text("utf-8", "replace").splitlines()
    except OSError:
        return {}
    return {name: value for name, _, value in (line.partition("=") for line in lines)}


def _cargo(directory: Path, *, offline: bool) -> dict[str, str]:
    """Cargo keeps settings, programs and downloads in one place: it is the person's where nothing can be downloaded."""
    return {"CARGO_NET_OFFLINE": "true"} if offline else {"CARGO_HOME": str(directory / "cargo")}
