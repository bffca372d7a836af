"""Calls that may hang for good, such as one to a keyring behind a dialog that nobody sees."""

import threading
from collections.abc import Callable
from typing import Generic, TypeVar

_T = TypeVar("_T")


class ThreadCall(Generic[_T]):
    """One call in a thread that keeps nobody waiting: not longer than said, and not at the end of the program."""

    def __init__(self, call: Callable[[], _T], *, name: str) -> None:
        self._call = call
        self._done = threading.Event()
        self._result: list[_T] = []
        self._error: BaseException | None = None
        threading.Thread(target=self._run, name=name, daemon=True).start()

    def result(self, *, within: float) -> _T:
        """What the call returned or raised. May be asked again when it took too long. Blocks: for worker threads.

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
