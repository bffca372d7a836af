"""Trust in the files of a project, as after `claw-acp trust --yes`."""

from pathlib import Path

from claw_acp.commands.prompt_folders import project_files
from claw_acp.security.trust_store import TrustStore

AT = "2026-11-23T08:00:00.000Z"


def trust_store(home: Path) -> TrustStore:
    """The store of a program whose user's home this is."""
    return TrustStore(home / "claw" / "trust.json")


def trust_all(project: Path, *, home: Path) -> None:
    """Trust everything in a project as it stands."""
    files, _ = project_files(project.resolve())
    trust_store(home).add(files, at=AT)
