"""How long one waits for somebody who gives signs of life."""

import anyio

MOST = 10  # times the bound, in all, however often there was a sign of life


class ProgressTimeout:
    """A bound, in seconds, that starts anew at each sign of life."""

    def __init__(self, within: float) -> None:
        self.within = within
        self.scope = anyio.CancelScope()
        self._end = anyio.current_time() + MOST * within
        self.again()

    def again(self) -> None:
        """There was a sign of life."""
        self.scope.deadline = min(anyio.current_time() + self.within, self._end)
