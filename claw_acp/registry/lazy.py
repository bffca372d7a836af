"""A value created on first use."""

import threading
from collections.abc import Callable
from typing import Final, Generic, TypeVar, cast

_T = TypeVar("_T")
_UNMADE: Final = object()


class Lazy(Generic[_T]):
    """Calls `make` when the value is first needed, in the thread that needs it; other threads wait for that.

    They wait without giving up control: a task that asks is not overtaken by another one meanwhile.
    """

    def __init__(self, make: Callable[[], _T]) -> None:
        self._make = make
        self._making = threading.Lock()
        self._value: object = _UNMADE

    def __call__(self) -> _T:
        """The value."""
        with self._making:
            if self._value is _UNMADE:
                self._value = self._make()
            return cast("_T", self._value)

    @property
    def made(self) -> _T | None:
        """The value, if it was created already."""
        return None if self._value is _UNMADE else cast("_T", self._value)
