"""One method of the control interface."""

from collections.abc import Awaitable, Callable
from typing import Any

from claw_acp.core.value import Value
from claw_acp.gateway.access.client import Client
from claw_acp.gateway.access.scope import Scope
from claw_acp.gateway.control.server import ControlledServer
from claw_acp.gateway.control.wire import Wire


def _always(_client: Client, _params: Wire) -> bool:
    return True


class Method(Value):
    """A method with its types.

    Attributes:
        scope: The scope that a client needs.
        params: The parameters.
        result: The result.
        summary: A sentence for the document.
        run: Does it.
        may: Returns whether a client with the scope may do it with these parameters.
    """

    scope: Scope
    params: type[Wire]
    result: type[Wire]
    summary: str
    run: Callable[[ControlledServer, Any], Awaitable[Wire]]
    may: Callable[[Client, Any], bool] = _always
