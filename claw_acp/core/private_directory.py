"""Directories of ours, which nobody else may look into."""

from pathlib import Path

_PRIVATE = 0o700


def make_private(directory: Path) -> None:
    """Create a directory and its missing parents, each with mode 0700, unless they are there.

    Raises:
        OSError: It cannot be created, or is no directory.
    """
    missing = [directory, *directory.parents]
    missing = missing[: next(index for index, path in enumerate(missing) if path.exists())]
    for path in reversed(missing):
        path.mkdir(mode=_PRIVATE, exist_ok=True)
    if not directory.is_dir():
        raise NotADirectoryError(20, "it is a file, not a directory")
