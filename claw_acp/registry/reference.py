"""The lazy seam: `module:attribute` as a typed value. Imports happen here, by name, and nowhere in functions."""

from dataclasses import dataclass
from importlib import import_module
from typing import Generic, TypeVar, cast

from claw_acp.core.errors import BrokenExtension

_T = TypeVar("_T")


@dataclass(frozen=True)  # no slots: `Ref[...](...)` notes its type argument on the instance
class Ref(Generic[_T]):
    """`module:attribute`, known to be a `_T`: `Ref[Callable[[], int]]("claw_acp.cli.guide:main")`.

    The declared type is a promise; tests load every reference of ours and hold it to the promise.
    """

    text: str

    def __post_init__(self) -> None:
        module, colon, attribute = self.text.partition(":")
        words = [*module.split("."), *attribute.split(".")]
        if not colon or not all(word.isidentifier() for word in words):
            raise BrokenExtension(f'"{self.text}" is not a reference; write "package.module:name"')

    def load(self) -> _T:
        """The thing itself; its module is imported on first use.

        Raises:
            BrokenExtension: There is no such module or name. What the module itself raises leaves as it came.
        """
        module_name, _, attributes = self.text.partition(":")
        try:
            found: object = import_module(module_name)
            for attribute in attributes.split("."):
                found = getattr(found, attribute)
        except (ImportError, AttributeError) as error:
            raise BrokenExtension(f'"{self.text}" cannot be loaded: {error}') from error
        return cast("_T", found)
