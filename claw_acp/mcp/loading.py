"""The mcp library, imported once and in a thread: it takes half a second and 30 MB, only in sessions with servers."""

import gc
from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager
from importlib import import_module
from pathlib import Path
from typing import Protocol

import anyio
from anyio import to_thread

from claw_acp.contracts.mcp_server import McpServerSpec
from claw_acp.mcp.diagnostics import Diagnostics
from claw_acp.mcp.server_catalog import ServerConnection
from claw_acp.registry.reference import Ref


class Connect(Protocol):
    """`connecting.connect`."""

    def __call__(
        self, spec: McpServerSpec, *, cwd: Path, roots: Callable[[], Sequence[Path]], evidence: Diagnostics
    ) -> AbstractAsyncContextManager[ServerConnection]:
        """Connect to a server for the block."""
        ...


CONNECT: Ref[Connect] = Ref("claw_acp.mcp.connecting:connect")
LATER = ("jsonschema", "referencing")  # what the library imports at the first checked answer, which would stall all

_one_at_a_time = anyio.CapacityLimiter(1)  # the others would only occupy threads while they wait for the first


async def load_connect() -> Connect:
    """The function `connecting.connect`; the event loop goes on while the library is imported."""
    return await to_thread.run_sync(_load, abandon_on_cancel=True, limiter=_one_at_a_time)


def _load() -> Connect:
    connect = CONNECT.load()
    if not _loaded:
        for name in LATER:
            import_module(name)
        gc.freeze()  # a hundred thousand objects that stay; each collection would go through them, on the event loop
        _loaded.append(True)
    return connect


_loaded: list[bool] = []
