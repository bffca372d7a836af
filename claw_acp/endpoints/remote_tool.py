"""A tool that an attached program lends, as one of ours."""

from typing import TYPE_CHECKING, Final

from pydantic import ValidationError

from claw_acp.contracts.endpoint import TOOL_PREFIX
from claw_acp.contracts.foreign_content import digest_of, marked, marked_failure, shown_arguments
from claw_acp.contracts.provider import ToolSpec
from claw_acp.contracts.tool import CallView, Invocation, Tool, ToolContext, ToolResult, ToolSource, UsesServer
from claw_acp.core.errors import InvalidArguments, NoAnswer, ServerBusy, ToolError
from claw_acp.core.events import ToolContent
from claw_acp.core.json_value import JsonObject
from claw_acp.core.messages import TextPart
from claw_acp.core.printable import printable
from claw_acp.endpoints.argument_check import ArgumentCheck
from claw_acp.endpoints.endpoint import Endpoint, invalid
from claw_acp.kit.endpoint_wire import CallParams, CallResult, ToolOffer
from claw_acp.rpc.errors import ConnectionClosed, RpcError
from claw_acp.telemetry.trace_context import current_trace

LONGEST_TITLE: Final = 120


class RemoteTool:
    """See `Tool`.

    Args:
        offer: Its description.
        check: Checks its arguments.
        endpoint: The program that runs it.
    """

    source: ToolSource = "remote"

    def __init__(self, offer: ToolOffer, *, check: ArgumentCheck, endpoint: Endpoint) -> None:
        self._offer = offer
        self._endpoint = endpoint
        self._check = check
        self.spec = ToolSpec(
            name=f"{TOOL_PREFIX}{offer.name}", description=offer.description, parameters=self._check.schema
        )
        self.parallel = offer.read_only

    def prepare(self, arguments: JsonObject, context: ToolContext) -> Invocation:
        """See `Tool`."""
        if (trouble := self._check.mismatch(arguments)) is not None:
            raise InvalidArguments(f"The arguments of {self.spec.name} do not fit its schema: {trouble}.")
        return _Calling(self._offer, arguments, endpoint=self._endpoint, context=context)


class _Calling(Invocation):
    def __init__(self, offer: ToolOffer, arguments: JsonObject, *, endpoint: Endpoint, context: ToolContext) -> None:
        self._offer = offer
        self._arguments = arguments
        self._endpoint = endpoint
        self._context = context
        title = printable(f"{endpoint.name}: {offer.title or offer.name}")[:LONGEST_TITLE]
        self.view = CallView(title=title, kind="read" if offer.read_only else "other")
        self.accesses = (
            UsesServer(
                server=endpoint.name,
                tool=offer.name,
                reads_only=offer.read_only,
                destroys=offer.destructive,
                digest=_digest(offer),
                description=offer.description,
                source="remote",
            ),
        )

    async def preview(self) -> tuple[ToolContent, ...]:
        """The arguments."""
        return shown_arguments(self._arguments)

    async def run(self) -> ToolResult:
        """Have the program run it. Its answer is marked for the model as untrusted text."""
        source, clock = f"the attached program {self._endpoint.name}", self._context.clock
        try:
            result = await self._result()
        except ToolError as error:
            return marked_failure(error, source=source, clock=clock)
        parts = tuple(TextPart(text=part.text) for part in result.content)
        return marked(ToolResult(parts=parts, failed=result.is_error), source=source, clock=clock)

    async def _result(self) -> CallResult:
        context, name = self._context, self._endpoint.name
        params = CallParams(
            name=self._offer.name,
            arguments=dict(self._arguments),
            call_id=context.call_id,
            session_id=context.session,
            folder=str(context.workspace.roots[0]),
            meta=dict(current_trace()) or None,
        )
        try:
            return CallResult.model_validate(
                await self._endpoint.request("tools/call", params, within=self._offer.timeout)
            )
        except RpcError as error:
            raise ToolError(f"The program {name} failed: {error.message} (error {error.code}).") from error
        except ValidationError as error:
            raise ToolError(f"The program {name} gave an answer that is no result: {invalid(error)}.") from error
        except TimeoutError as error:
            raise NoAnswer(f"The program {name} gave no answer within {self._offer.timeout:g} s.") from error
        except ConnectionClosed as error:
            raise NoAnswer(f"The program {name} left before it answered; its tools are gone.") from error
        except ServerBusy as error:
            raise NoAnswer(f"{error.message}; call it again when some of them have ended.") from error


def _digest(offer: ToolOffer) -> str:
    return digest_of(
        title=offer.title,
        description=offer.description,
        schema=offer.input_schema,
        reads_only=offer.read_only,
        destroys=offer.destructive,
    )


if TYPE_CHECKING:
    _conforms: type[Tool] = RemoteTool
