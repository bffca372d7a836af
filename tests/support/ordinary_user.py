"""Running as an ordinary user: permissions do not apply to the superuser, who often runs tests in containers."""

import os
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

NOBODY = 65534


@contextmanager
def ordinary_user(directory: Path) -> Generator[None]:
    """Run the block as a user to whom permissions apply, and who owns all of `directory`."""
    if os.geteuid() != 0:
        yield
        return
    for path in (directory, *directory.rglob("*")):
        os.chown(path, NOBODY, -1, follow_symlinks=False)
    for parent in directory.parents:  # temporary directories are closed to others; one must get through them
        mode = parent.stat().st_mode
        if not mode & 0o001:
            parent.chmod(mode | 0o011)
    os.setresuid(NOBODY, NOBODY, 0)
    try:
        yield
    finally:
        os.setresuid(0, 0, 0)
