"""The lazy seam: `module:attribute` as a typed value. Imports happen here, by name, and never inside functions."""

from importlib import import_module
from typing import Generic, TypeVar, cast

from claw_acp.core.errors import BrokenExtension

_T = TypeVar("_T")


class Ref(Generic[_T]):
    """`module:attribute`, known to be a `_T`: `Ref[Callable[[], int]]("claw_acp.cli.guide:main")`.

    The declared type is a promise; tests load every reference of ours and check it.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        module, colon, attribute = self.text.partition(":")
        words = [*module.split("."), *attribute.split(".")]
        if not colon or not all(word.isidentifier() for word in words):
            raise BrokenExtension(f'"{self.text}" is not a reference; write "package.module:name"')

    def load(self) -> _T:
        """The object itself; its module is imported on first use.

        Raises:
            BrokenExtension: There is no such module or name. Exceptions of the module itself pass unchanged.
        """
        module_name, _, attributes = self.text.partition(":")
        try:
            found: object = import_module(module_name)
            for attribute in attributes.split("."):
                found = getattr(found, attribute)
        except (ImportError, AttributeError) as error:
            raise BrokenExtension(f'"{self.text}" cannot be loaded: {error}') from error
        return cast("_T", found)
