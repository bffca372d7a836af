"""Calls that may hang for ever, such as one to a keyring behind an unseen dialog."""

import threading
from collections.abc import Callable
from typing import Generic, TypeVar

_T = TypeVar("_T")


class ThreadCall(Generic[_T]):
    """One call in a daemon thread: its caller waits only as long as it wants, and the end of the program not at all."""

    def __init__(self, call: Callable[[], _T], *, name: str) -> None:
        self._call = call
        self._done = threading.Event()
        self._result: list[_T] = []
        self._error: BaseException | None = None
        threading.Thread(target=self._run, name=name, daemon=True).start()

    def result(self, *, within: float) -> _T:
        """The result or exception of the call. May be called again after a timeout. Blocks: for worker threads.

        Raises:
            TimeoutError: It has not ended after `within` seconds; it goes on.
        """
        if not self._done.wait(within):
            raise TimeoutError(f"no answer within {within:g} s")
        if self._error is not None:
            raise self._error
        return self._result[0]

    def _run(self) -> None:
        try:
            self._result.append(self._call())
        except BaseException as error:  # noqa: BLE001 - handed to whoever asks for the result
            self._error = error
        finally:
            self._done.set()
