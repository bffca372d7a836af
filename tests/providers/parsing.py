"""What the tests of all parsers of answers begin with: calls to be parsed, reading a stream, cutting it anywhere."""

from collections.abc import Callable, Sequence
from typing import TypeVar

from claw_acp.contracts.provider import ChatResponse, TextChunk, ThoughtChunk
from claw_acp.providers.transport.answer_parser import AnswerParser
from tests.support.servers.model_replies import Call

CALL = Call(name="read_file", arguments={"path": "żółć.py"}, id="call_1")
OTHER = Call(name="list_dir", arguments={}, id="call_2")

_Parsed = TypeVar("_Parsed")


def read(stream: AnswerParser, reads: Sequence[bytes]) -> tuple[str, str, ChatResponse]:
    """Text, thinking and the response, after checking that the chunks concatenate to it."""
    events = [event for data in reads for event in stream.feed(data)]
    text = "".join(event.text for event in events if isinstance(event, TextChunk))
    thinking = "".join(event.text for event in events if isinstance(event, ThoughtChunk))
    response = stream.response()
    assert text == response.text
    return text, thinking, response


def same_wherever_cut(body: bytes, parse: Callable[[Sequence[bytes]], _Parsed]) -> _Parsed:
    """The parsed body, after checking that it is the same in two reads of any length, and byte by byte."""
    whole = parse([body])
    assert parse([body[i : i + 1] for i in range(len(body))]) == whole
    for cut in range(1, len(body)):
        assert parse([body[:cut], body[cut:]]) == whole, cut
    return whole
