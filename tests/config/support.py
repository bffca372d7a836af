"""Settings from text, for tests."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from claw_acp.config.load import load_settings
from claw_acp.config.locations import Locations, find_locations
from claw_acp.config.settings import Settings


@dataclass(frozen=True, slots=True)
class Desk:
    """A home directory and a project below `root`."""

    root: Path
    environ: dict[str, str] = field(default_factory=dict[str, str])

    @property
    def locations(self) -> Locations:
        return find_locations({"CLAW_ACP_HOME": str(self.root / "home")})

    @property
    def project(self) -> Path:
        return self.root / "project"

    @property
    def project_file(self) -> Path:
        return self.project / ".claw" / "config.toml"

    def user_says(self, text: str | bytes) -> None:
        write(self.locations.config_file, text)

    def project_says(self, text: str | bytes) -> None:
        write(self.project_file, text)

    def settings(self, environ: Mapping[str, str] | None = None) -> Settings:
        return load_settings(locations=self.locations, environ={**self.environ, **(environ or {})}, cwd=self.project)


def write(path: Path, text: str | bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text if isinstance(text, bytes) else text.encode())


def texts(settings: Settings) -> list[str]:
    """The diagnostics without directories."""
    return [
        finding.text().replace(str(Path(finding.file).parent) + "/", "") if "/" in finding.file else finding.text()
        for finding in settings.diagnostics
    ]
