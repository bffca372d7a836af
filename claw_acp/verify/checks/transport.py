"""Lines and bytes: the permitted forms of a stream, and input that must not end it."""

import json
from collections.abc import Sequence

import anyio

from claw_acp.core.json_value import JsonObject, JsonValue
from claw_acp.verify.agent_connection import AgentConnection
from claw_acp.verify.check import checks_in, must, should
from claw_acp.verify.check_run import CheckRun
from claw_acp.verify.needs import greeted, session
from claw_acp.verify.rule import Failed

SIZES = (70 * 1024, 1536 * 1024)  # bytes: beyond the usual limit of a line buffer, and a screenshot
LATE = 1000  # requests whose answers fill the pipe before anybody reads them
NESTING = 100_000  # arrays inside one another
SEPARATORS = "\u2028 \u2029 \x85"  # what some libraries take for ends of lines, and JSON does not escape


def _unknown(number: int, **padding: JsonValue) -> JsonObject:
    """A request that every agent answers at once: its method does not exist."""
    return {"jsonrpc": "2.0", "id": number, "method": "_claw-acp/verify", "params": {"_meta": padding}}


def _bytes(message: JsonValue) -> bytes:
    return json.dumps(message, ensure_ascii=False).encode()


async def _send(agent: AgentConnection, pieces: Sequence[bytes], message: JsonObject) -> None:
    """Send the bytes of a request in pieces, and check that it is answered."""
    call = agent.send_call_raw(message)
    for index, piece in enumerate(pieces):
        if index:
            await agent.flushed()
            await anyio.sleep(0.01)  # so that the agent reads the pieces apart
        agent.post(piece)
    await agent.answered(call)


@must("transport.split-writes", greeted, source="transports: stdio")
async def split_writes(attempt: CheckRun) -> None:
    """A message is one line, however its bytes arrive; a piece may end inside a character."""
    async with attempt.agent() as agent:
        message = _unknown(700_001, text="ä€😀" * 20)
        data = _bytes(message) + b"\n"
        cut = data.index("€".encode()) + 1  # inside a character
        await _send(agent, [data[:20], data[20:cut], data[cut:]], message)


@must("transport.joined-writes", greeted, source="transports: stdio")
async def joined_writes(attempt: CheckRun) -> None:
    """Several messages that arrive in one piece are each handled."""
    async with attempt.agent() as agent:
        messages = [_unknown(700_010 + index) for index in range(5)]
        calls = [agent.send_call_raw(message) for message in messages]
        agent.post(b"".join(_bytes(message) + b"\n" for message in messages))
        for call in calls:
            await agent.answered(call)


@should("transport.line-ends", greeted, source="transports: stdio", cases=(23,))
async def line_ends(attempt: CheckRun) -> None:
    """Blank lines, and a carriage return before the line feed, do no harm."""
    async with attempt.agent() as agent:
        message = _unknown(700_020)
        await _send(agent, [b"\r\n\n" + _bytes(message) + b"\r\n"], message)


@must("transport.long-line", greeted, source="transports: stdio", cases=(28,))
async def long_line(attempt: CheckRun) -> None:
    """A line may be longer than 64 KiB, and longer than a megabyte: pictures travel inside messages."""
    async with attempt.agent() as agent:
        for index, size in enumerate(SIZES):
            message = _unknown(700_030 + index, text="x" * size)
            await _send(agent, [_bytes(message) + b"\n"], message)


@must("transport.unicode-separators", greeted, source="transports: stdio", cases=(26,))
async def separators(attempt: CheckRun) -> None:
    """Only a line feed ends a message; U+2028, U+2029 and U+0085 may stand inside strings."""
    async with attempt.agent() as agent:
        message = _unknown(700_040, text=SEPARATORS)
        agent.unreadable += len(SEPARATORS)  # who splits there finds pieces that are no JSON
        await _send(agent, [_bytes(message) + b"\n"], message)


async def _survives(attempt: CheckRun, lines: Sequence[bytes]) -> None:
    """Check that the agent survives each of these lines, answered or not."""
    async with attempt.agent() as agent:
        for data in lines:
            sent = agent.send_raw(data + b"\n", unreadable=data.count(b"\n") + 1)
            await attempt.alive(agent, shown=[sent])


@must("transport.survives-broken-lines", greeted, source="JSON-RPC 2.0 §5.1", cases=(23,))
async def broken_lines(attempt: CheckRun) -> None:
    """A line that is no JSON does not end the connection."""
    await _survives(
        attempt,
        [
            b"this is no JSON",
            b'{"jsonrpc":"2.0","id":700050,"method":"session/li',
            b'{"jsonrpc":"2.0","method":"_x"} trailing',
            b'{"jsonrpc":"2.0","method":"_x","params":{"n":NaN}}',
            b"\xef\xbb\xbf" + b'{"jsonrpc":"2.0","method":"_x"}',
            b"\0\0\0",
            b'{"jsonrpc":"2.0","method":"\0"}',
            b'{"jsonrpc" "2.0"}',
        ],
    )


@must("transport.survives-invalid-utf8", greeted, source="transports: stdio", cases=(24,))
async def invalid_utf8(attempt: CheckRun) -> None:
    """Bytes that are not UTF-8 do not end the connection."""
    await _survives(attempt, [b'{"jsonrpc":"2.0","method":"_x","params":{"text":"\xff\xfe\x80"}}'])


@should("transport.survives-deep-nesting", greeted, source="JSON-RPC 2.0 §5.1")
async def nesting(attempt: CheckRun) -> None:
    """A message nested too deeply to be read does not end the connection."""
    await _survives(
        attempt, [b'{"jsonrpc":"2.0","method":"_x","params":{"a":' + b"[" * NESTING + b"]" * NESTING + b"}}"]
    )


@should("transport.survives-lone-surrogates", session, source="JSON (RFC 8259) §8.2", cases=(25,))
async def surrogates(attempt: CheckRun) -> None:
    r"""A string with half of a surrogate pair ("\ud800") is answered, and does not break the output."""
    async with attempt.in_session() as (agent, opened):
        params = attempt.prompt_params(opened, "verify \ud800 half a character, and \udfff another")
        call = agent.call("session/prompt", params)
        await agent.answered(call)
        await attempt.alive(agent, shown=[call.frame])


@must("transport.late-reader", greeted, source="transports: stdio", cases=(29, 30))
async def late_reader(attempt: CheckRun) -> None:
    """A client that reads late still gets every answer."""
    async with attempt.fresh() as agent:
        agent.pause_reading()
        calls = [agent.call("_claw-acp/verify", {"_meta": {"number": number}}) for number in range(LATE)]
        with anyio.move_on_after(0.3):
            await agent.flushed()
        agent.go_on_reading()
        missing = 0
        try:
            for call in calls:
                await agent.answered(call)
        except Failed as failed:
            missing = sum(not call.answers for call in calls)
            raise Failed(f"{missing} of {LATE} answers are missing: {failed.reason}", failed.frames) from failed


CHECKS = checks_in(globals())
