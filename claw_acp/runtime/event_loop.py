"""The event loop of a server, which survives `SystemExit` and `KeyboardInterrupt` in tasks.

asyncio raises those of any task out of the loop. A task that an extension started by itself has no wall of ours around
it, so the loop goes on. Signals do not depend on this: servers receive them otherwise.
"""

import asyncio
import logging
import sys
from typing import Any

from claw_acp.registry.foreign_code import described

log = logging.getLogger(__name__)

if sys.platform == "win32":
    _UsualLoop = asyncio.ProactorEventLoop
else:
    _UsualLoop = asyncio.SelectorEventLoop


class ServerLoop(_UsualLoop):
    """The usual event loop, which only the task it runs for can end."""

    _main: "asyncio.Future[Any] | None" = None

    def run_until_complete(self, future: Any) -> Any:  # noqa: ANN401 - whatever it returns
        """Run until `future` is done; return its result."""
        main = self._main = asyncio.ensure_future(future, loop=self)
        return super().run_until_complete(main)

    def run_forever(self) -> None:
        """Run until `stop` is called."""
        while True:
            try:
                return super().run_forever()
            except (SystemExit, KeyboardInterrupt) as error:
                if self._main is None or self._main.done():
                    raise
                log.exception("a task tried to end the server", extra={"reason": described(error)})


SERVER: dict[str, Any] = {"loop_factory": ServerLoop}
"""The `backend_options` of `anyio.run` for a server."""
