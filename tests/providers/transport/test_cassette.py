"""Recorded exchanges: what is in the file and what never is, and what comes out of it again."""

import gzip
import json
import stat
import threading
from contextlib import aclosing, suppress
from pathlib import Path

import anyio
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from claw_acp.contracts.provider import ChatRequest, Provider, Remark, StreamEvent, TextChunk
from claw_acp.contracts.provider_setup import Cassette, ProviderSetup
from claw_acp.core.errors import (
    MalformedReply,
    ProviderUnavailable,
    ProviderUnreachable,
    RateLimited,
    RequestRejected,
    StreamInterrupted,
)
from claw_acp.core.ids import new_id
from claw_acp.core.messages import Message, ToolCall
from claw_acp.core.secret import Secret
from claw_acp.net.redaction import MASK, masked, masked_pieces
from claw_acp.providers.anthropic.provider import AnthropicProvider
from claw_acp.providers.openai.provider import OpenAIChatProvider
from claw_acp.providers.transport import cassette
from tests.providers.conversation import asking
from tests.support.servers.model_replies import Call, Cut, Family, HangUp, Raw, Say, Stall
from tests.support.servers.model_server import ModelServer, refusing_address

KEY = 'sk-te"st-0123456789abcdef'
NEVER = "team-secret-token"
NOWHERE = "http://127.0.0.1:9/v1"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "exchanges.jsonl"


def provider_for(family: Family, url: str, cassette: Cassette, *, key: str = KEY) -> Provider:
    headers = (("x-team-token", Secret("team-secret-token")),)
    setup = ProviderSetup(
        name="acme", kind=family, base_url=url, api_key=Secret(key), headers=headers, cassette=cassette
    )
    return OpenAIChatProvider(setup) if family == "openai" else AnthropicProvider(setup)


def recording(family: Family, server: ModelServer, file: Path) -> Provider:
    url = server.openai_url if family == "openai" else server.anthropic_url
    return provider_for(family, url, Cassette(path=file, mode="record"))


def replaying(file: Path, *, family: Family = "openai") -> Provider:
    return provider_for(family, NOWHERE, Cassette(path=file, mode="replay"), key="another key")


async def heard(provider: Provider, request: ChatRequest | None = None) -> list[StreamEvent]:
    async with aclosing(provider):
        return [event async for event in provider.stream(request or asking())]


def content(file: Path) -> str:
    return file.read_text()


def put(file: Path, text: str, *, mode: int = 0o600) -> None:
    file.write_text(text)
    file.chmod(mode)


def mode_of(file: Path) -> int:
    return file.stat().st_mode


def lines(file: Path) -> list[dict[str, dict[str, object]]]:
    return [json.loads(line) for line in content(file).splitlines()]


def turned(text: str) -> str:
    """The same JSON with the members of its objects in the opposite order."""
    return json.dumps(json.loads(text, object_pairs_hook=lambda pairs: dict(reversed(pairs))))


# ------------------------------------------------------------------ what comes out again


async def test_what_was_recorded_is_replayed_without_a_network_in_the_same_pieces(
    server: ModelServer, file: Path, family: Family
) -> None:
    call = Call(name="f", arguments={"a": "żółć"}, id="c1")
    server.will_reply(Say(thinking=("hm",), text=("Hel", "lo"), calls=(call,)))
    recorded = await heard(recording(family, server, file))
    assert await heard(replaying(file, family=family)) == recorded
    assert len(server.requests) == 1


def held_in(*folders: str, platform: str = "Linux", listed: str = "a.txt") -> ChatRequest:
    first, *more = folders
    reach = "".join(f"\nAlso in reach: {folder}" for folder in more)
    call = ToolCall(id="c", name="list_files", arguments=json.dumps({"path": f"{first}/src"}))
    return asking(
        Message.system(f"You work.\n\nWorking folder: {first}{reach}\nPlatform: {platform}\n\n# Rules\n"),
        Message.user("look"),
        Message.assistant(tool_calls=(call,)),
        Message.tool(call, f"{first}/{listed}\n/srv/lib-old/{listed}"),
    )


async def test_a_recording_is_replayed_in_another_folder_on_another_system(
    server: ModelServer, file: Path, family: Family
) -> None:
    server.will_reply(Say(text=("Seen.",)))
    recorded = await heard(recording(family, server, file), held_in("/home/a/p", "/srv/lib"))
    here = held_in('/Users/b "c"/q', "/opt/lib", platform="Darwin")
    assert await heard(replaying(file, family=family), here) == recorded
    for other in (held_in("/home/a/p", "/srv/lib", listed="b.txt"), held_in("/home/a/p")):
        with pytest.raises(RequestRejected, match="none of its 1 answers"):
            await heard(replaying(file, family=family), other)


async def test_bytes_that_are_no_text_are_replayed_as_they_came(server: ModelServer, file: Path) -> None:
    [body] = Say(text=("@",), split="whole").render("openai").pieces
    assert isinstance(body, bytes)
    start, _, end = body.partition(b"@")
    server.will_reply(Raw(pieces=[start + b"\xc5", b"\xbc" + end]))
    recorded = await heard(recording("openai", server, file))
    assert "base64" in content(file)
    assert recorded[0] == TextChunk(text="ż")
    assert await heard(replaying(file)) == recorded


async def test_refusals_broken_streams_and_silence_are_replayed_as_what_they_were(
    server: ModelServer, file: Path, family: Family
) -> None:
    server.will_fail(429, {"error": {"message": "slow down"}}, headers={"retry-after": "7"})
    server.will_reply(Say(text=("Hel", "lo"), insert={2: Cut()}), HangUp())
    server.will_reply(Raw(pieces=[b"<html>"], content_type="text/html"))
    for provider in (recording(family, server, file), replaying(file, family=family)):
        async with aclosing(provider):
            for error in (RateLimited, StreamInterrupted, ProviderUnavailable, MalformedReply):
                with pytest.raises(error) as caught:
                    await provider.chat(asking())
                if isinstance(caught.value, RateLimited):
                    assert (caught.value.retry_after, "slow down" in str(caught.value)) == (7.0, True)


async def test_a_service_that_cannot_be_reached_is_recorded_as_that(file: Path) -> None:
    with refusing_address() as url:
        for cassette in (Cassette(path=file, mode="record"), Cassette(path=file, mode="replay")):
            with pytest.raises(ProviderUnreachable):
                await heard(provider_for("openai", url, cassette))


async def test_several_answers_to_one_request_come_in_their_order_and_the_last_one_stays(
    server: ModelServer, file: Path
) -> None:
    provider = recording("openai", server, file)
    async with aclosing(provider), aclosing(replaying(file)) as player:
        for word in ("one", "two"):
            server.will_say(word)
            await provider.simple_chat("test-model", "hi")
        server.will_say("other")
        await provider.simple_chat("test-model", "ho")
        said = [await player.simple_chat("test-model", text) for text in ("hi", "ho", "hi", "hi", "ho")]
    assert said == ["one", "other", "two", "two", "other"]


async def test_our_own_ids_and_the_order_of_members_do_not_matter(server: ModelServer, file: Path) -> None:
    def conversation() -> ChatRequest:
        call = ToolCall(id=new_id("call"), name="f", arguments="{}")
        return asking(Message.user("hi"), Message.assistant(tool_calls=(call,)), Message.tool(call, "done"))

    server.will_say("Hello.")
    recorded = await heard(recording("openai", server, file), conversation())
    put(file, turned(content(file)))
    assert await heard(replaying(file), conversation()) == recorded


async def test_the_list_of_models_is_recorded_too(server: ModelServer, file: Path, family: Family) -> None:
    async with aclosing(recording(family, server, file)) as provider:
        listed = await provider.models()
    async with aclosing(replaying(file, family=family)) as player:
        assert await player.models() == listed


async def test_an_answer_that_nobody_read_to_its_end_is_kept_as_far_as_it_came(server: ModelServer, file: Path) -> None:
    server.will_reply(Say(text=("Hel", "lo"), insert={2: Stall()}))
    async with aclosing(recording("openai", server, file)) as provider, aclosing(provider.stream(asking())) as events:
        async for _ in events:
            break
    assert lines(file)[0]["response"]["end"] == "left"
    with pytest.raises(StreamInterrupted):
        await heard(replaying(file))


# ------------------------------------------------------------------ what is never in the file


async def test_no_secret_is_in_the_file_and_nobody_else_can_read_it(server: ModelServer, file: Path) -> None:
    put(file, "", mode=0o644)
    server.will_reply(Say(text=(f"Your key is {KEY}, and", " ghp_0123456789abcdef."), split="bytes"), Say(text=("Hm",)))
    async with aclosing(recording("openai", server, file)) as provider:
        await provider.simple_chat("test-model", f"my key is {KEY} and team-secret-token")
        await provider.simple_chat("test-model", "hi")
    written = "".join(character for character in content(file) if character not in '", ')  # pieces of one byte each
    for secret in (KEY, json.dumps(KEY)[1:-1], "team-secret-token", "Bearer", "authorization", "0123456789abcdef"):
        assert secret.replace('"', "") not in written
    assert written.count(MASK) == 4
    assert stat.S_IMODE(mode_of(file)) == 0o600


@settings(max_examples=100)
@given(
    st.lists(st.sampled_from([b"se", b"cret-", b"1234", b"sec", b"x", b"", b"secret-1234"]), max_size=8),
)
def test_a_secret_is_found_wherever_the_pieces_were_cut(pieces: list[bytes]) -> None:
    cleaned = masked_pieces(pieces, secrets=("secret-1234",))
    assert len(cleaned) == len(pieces)
    assert b"".join(cleaned) == b"".join(pieces).replace(b"secret-1234", MASK.encode())


SHAPES = ["sk-", "rk-", "pk-", "xai-", "nvapi-", "pplx-", "gsk_", "ghs_", "github_pat_", "xoxb-", "AIza", "Bearer "]


@settings(max_examples=200)
@given(st.lists(st.sampled_from([*SHAPES, "x-amz-security-token:", "a1b2c3d4", "-", " ", "ta", "\n"]), max_size=12))
def test_in_pieces_the_same_looks_like_a_key_as_in_a_text(parts: list[str]) -> None:
    cleaned = masked_pieces([part.encode() for part in parts])
    assert b"".join(cleaned).decode() == masked("".join(parts))


async def test_several_recorders_write_whole_lines_to_one_file(server: ModelServer, file: Path) -> None:
    put(file, '{"half a li')
    server.always(Say(text=("x" * 5_000,) * 5))
    async with anyio.create_task_group() as tasks:
        for _ in range(8):
            tasks.start_soon(heard, recording("openai", server, file))
    first, *rest = content(file).splitlines()
    assert (first, len([json.loads(line) for line in rest if line])) == ('{"half a li', 8)


# ------------------------------------------------------------------ trouble


async def test_what_cannot_be_written_costs_a_line_in_the_log_and_never_the_answer(
    server: ModelServer, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    server.always(Say(text=("Hello.",)))
    for path in (tmp_path, tmp_path / "no" / "folder", Path("/dev/full")):
        async with aclosing(recording("openai", server, path)) as provider:
            assert await provider.simple_chat("test-model", "hi") == "Hello."
    assert caplog.text.count("exchange not recorded") == 3


async def test_a_disk_that_hangs_is_told_of_once(
    server: ModelServer, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    released = threading.Event()

    def hanging(*_: object, **__: object) -> None:
        released.wait(10)

    monkeypatch.setattr(cassette, "_append", hanging)
    server.always(Say(text=("Hello.",)))
    try:
        async with aclosing(recording("openai", server, file)) as provider:
            answers = [[event async for event in provider.stream(asking())] for _ in range(2)]
    finally:
        released.set()
    remarks = [[event.text for event in answer if isinstance(event, Remark)] for answer in answers]
    assert [len(texts) for texts in remarks] == [1, 0]
    assert "no answer from the disk" in remarks[0][0]


async def test_a_compressed_answer_is_recorded_as_what_it_says_without_its_secrets(
    server: ModelServer, file: Path
) -> None:
    said = f"data: {json.dumps({'choices': [{'delta': {'content': 'key ' + NEVER}}]})}\n\ndata: [DONE]\n\n"
    server.will_reply(Raw(pieces=[gzip.compress(said.encode())], headers={"content-encoding": "gzip"}))
    with suppress(StreamInterrupted):
        await heard(recording("openai", server, file))
    [line] = (await anyio.Path(file).read_text()).splitlines()
    response = json.loads(line)["response"]
    assert response["pieces"] == [said.replace(NEVER, MASK)]
    assert "content-encoding" not in response["headers"]


async def test_a_request_that_was_not_recorded_is_refused_with_the_nearest_that_was(
    server: ModelServer, file: Path
) -> None:
    server.will_say("Hello.")
    await heard(recording("openai", server, file), asking(Message.user("What is the weather in Warsaw?")))
    with pytest.raises(RequestRejected) as caught:
        await heard(replaying(file), asking(Message.user("What is the weather in Vienna?")))
    for words in (str(file), "POST /chat/completions", "line 1", "Warsaw", "Vienna"):
        assert words in str(caught.value)
    with pytest.raises(RequestRejected, match="no answer to POST /v1/messages, only to POST /chat/completions"):
        await heard(replaying(file, family="anthropic"))


GOOD = '{"request": {"method": "GET", "path": "/"}, "response": {"end": "complete"}}\n'


def answered(**response: object) -> str:
    whole: dict[str, object] = {"end": "complete", "status": 200, "headers": {}, "pieces": []}
    return json.dumps({"request": {"method": "GET", "path": "/"}, "response": {**whole, **response}})


@pytest.mark.parametrize(
    "damage",
    [
        "{",
        "[]",
        "5",
        "\x00",
        "[" * 100_000,
        '{"request": {}, "response": {}}',
        '{"request": {"method": "GET", "path": 5}, "response": {"end": ""}}',
        '{"request": {"method": "GET", "path": "/", "body": 5}, "response": {"end": ""}}',
        '{"request": {"method": "GET", "path": "/"}, "response": {"end": "", "status": 200}}',
        answered(status=99),
        answered(end=5),
        answered(pieces=[5]),
        answered(pieces=[{"base64": "?"}]),
        answered(headers={"a": "b\r\nc: d"}),
        answered(headers={"a": 5}),
        answered(headers={"a": "ż"}),
    ],
)
async def test_a_damaged_file_is_refused_with_the_line(file: Path, damage: str) -> None:
    put(file, f"{GOOD}\n{damage}\n")
    with pytest.raises(RequestRejected, match=r"its line 3 is no recorded exchange"):
        await heard(replaying(file))


LINE = answered(headers={"content-type": "text/event-stream"}, pieces=["data: {}", {"base64": "aGk="}]).encode()


@settings(max_examples=100)
@given(st.lists(st.tuples(st.integers(0, len(LINE) - 1), st.binary(max_size=3)), min_size=1, max_size=4))
def test_whatever_a_line_holds_it_is_read_or_refused(changes: list[tuple[int, bytes]]) -> None:
    line = bytearray(LINE)
    for at, new in changes:
        line[at : at + 1] = new
    with suppress(ValueError, TypeError, RecursionError):
        kept = cassette.read_line(bytes(line), number=1)
        assert kept.exchange.status is None or 200 <= kept.exchange.status < 600


async def test_a_file_that_is_none_is_refused(tmp_path: Path) -> None:
    for path in (tmp_path / "missing", tmp_path, Path("/dev/zero")):
        with pytest.raises(RequestRejected, match="cannot be read"):
            await heard(replaying(path))
    (tmp_path / "empty").touch()
    with pytest.raises(RequestRejected, match="nothing at all"):
        await heard(replaying(tmp_path / "empty"))
