"""The projects whose memory is switched off, in a small file: read without opening the store."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import cast

from claw_acp.config.atomic_file import only_writer, put_in_place
from claw_acp.config.locations import private_directory
from claw_acp.core.errors import StoreError


class MemorySwitch:
    """The switch in a file, which need not exist.

    Args:
        path: The file.
    """

    def __init__(self, path: Path) -> None:
        self._path = path

    def is_off(self, namespace: str) -> bool:
        """Return whether nothing is remembered or recalled in a project. A file that cannot be read says so of all."""
        try:
            return namespace in self._read()
        except StoreError:
            return True

    def set_off(self, namespace: str, *, off: bool) -> None:
        """Switch the memory of a project off or on.

        Raises:
            StoreError: The file cannot be read or written.
        """
        private_directory(self._path.parent)
        try:
            with only_writer(self._path):
                others = [each for each in self._read() if each != namespace]
                put_in_place(self._path, json.dumps([*others, namespace] if off else others, indent=1) + "\n")
        except OSError as error:
            raise StoreError(f"{self._path} cannot be written: {error.strerror or error}") from error

    def _read(self) -> Sequence[str]:
        try:
            found: object = json.loads(self._path.read_text(encoding="utf-8"))
        except FileNotFoundError:
            return ()
        except (OSError, ValueError) as error:
            raise StoreError(f"{self._path} cannot be read ({error}); mend it, or remove it to start over") from error
        if not isinstance(found, list):
            raise StoreError(f"{self._path} is no list of projects; mend it, or remove it to start over")
        return [str(each) for each in cast("list[object]", found)]
