"""A machine with the language servers of a test, and none else."""

import os
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

import pytest

from tests.support.editors.editor_fixtures import home, opened, project, spawn
from tests.support.toolchain import ENVIRONMENT

__all__ = ["home", "opened", "project", "spawn"]

Machine: TypeAlias = Callable[..., dict[str, str]]


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    """Return the environment of a machine that has these programs besides those of the system."""

    def machine_with(*programs: str, repair: str = "diagnostics") -> dict[str, str]:
        folder = tmp_path / "programs"
        folder.mkdir(exist_ok=True)
        for program in programs:
            found = shutil.which(program, path=f"{Path(sys.executable).parent}:{ENVIRONMENT.get('PATH', '')}")
            if found is None:
                pytest.skip(f"{program} is not here")
            (folder / Path(program).name).symlink_to(found)
        return {"PATH": os.pathsep.join([str(folder), "/usr/bin", "/bin"]), "CLAW_ACP_REPAIR": repair}

    return machine_with
