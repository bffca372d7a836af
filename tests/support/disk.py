"""A directory outside of the temporary ones: those are replaced in a sandbox, so nothing is proved there."""

import os
import pwd
import shutil
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from tempfile import mkdtemp


@contextmanager
def directory_on_disk() -> Generator[Path]:
    """A directory with a short path, which others can enter; it is removed at the end of the block."""
    place = "/srv" if os.access("/srv", os.W_OK) else pwd.getpwuid(os.getuid()).pw_dir
    directory = Path(mkdtemp(prefix="claw-acp-tests-", dir=place))
    directory.chmod(0o755)
    try:
        yield directory
    finally:
        shutil.rmtree(directory)
