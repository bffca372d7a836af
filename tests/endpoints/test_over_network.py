"""Programs that attach over the network: by a WebSocket at /attach, with a token of the scope `attach`."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, cast

import anyio
import pytest
from anyio.abc import TaskStatus

from claw_acp.contracts.endpoint import LARGEST_FRAME
from claw_acp.gateway.access.scope import Scope
from tests.endpoints.program import COUNT, Program
from tests.gateway.attacks.conftest import OWNER, token_for
from tests.support.editors.websocket_client import Closed, Rejected, WebSocketClient
from tests.support.servers.small_gateway import SmallGateway, open_gateway


class Messages:
    """A WebSocket as a stream of lines. `closed` is its end."""

    def __init__(self, websocket: WebSocketClient) -> None:
        self.closed: Closed | None = None
        self._websocket = websocket

    async def send(self, data: bytes) -> None:
        for line in data.splitlines():
            await self._websocket.send(line.decode())

    async def receive(self) -> bytes:
        message = await self._websocket.receive()
        if isinstance(message, Closed):
            self.closed = message
            raise anyio.EndOfStream
        return message.encode() + b"\n"


@asynccontextmanager
async def attached(gateway: SmallGateway, token: str = OWNER) -> AsyncGenerator[tuple[Program, Messages]]:
    url = gateway.websocket_url.removesuffix("/acp") + "/attach"
    async with WebSocketClient.connected(url, headers={"Authorization": f"Bearer {token}"} if token else {}) as opened:
        messages = Messages(opened)
        yield Program(cast("Any", messages)), messages


async def test_a_program_lends_its_tools_over_the_network(home: Path) -> None:
    async with (
        open_gateway(home=home / "claw", owner=OWNER) as gateway,
        attached(gateway, token_for(gateway, "attach")) as (program, _),
    ):
        await program.introduce()
        assert program.heard[0]["params"].keys() == {"protocolVersion", "hostInfo"}
        assert (await program.lend())["registered"] == [{"name": "word_count", "knownAs": "remote__word_count"}]
        assert (await program.request("ping"))["result"] == {}


@pytest.mark.parametrize(
    ("scopes", "status"), [(None, 401), ((), 401), (("chat",), 403), (("read", "chat", "control"), 403)]
)
async def test_without_the_right_token_nothing_happens_and_the_log_says_so(
    home: Path, scopes: tuple[Scope, ...] | None, status: int, caplog: pytest.LogCaptureFixture
) -> None:
    async with open_gateway(home=home / "claw", owner=OWNER) as gateway:
        token = "" if scopes is None else "wrong"
        if scopes:
            token = token_for(gateway, *scopes)
        with pytest.raises(Rejected) as refused:
            async with attached(gateway, token):
                pass
    assert refused.value.status == status
    [record] = [record for record in caplog.records if record.message == "refused"]
    assert (record.__dict__["status"], record.__dict__["path"]) == (status, "/attach")
    assert token not in str(record.__dict__) or not scopes


async def test_a_program_is_sent_away_when_its_token_ends(home: Path) -> None:
    async with open_gateway(home=home / "claw", owner=OWNER) as gateway:
        token = token_for(gateway, "attach")
        async with attached(gateway, token) as (program, messages):
            await program.introduce()
            await program.lend()
            gateway.tokens.remove("guest")
            await program.hear_all()
        assert messages.closed == Closed(1008, "the token of this connection has ended")
        async with attached(gateway) as (other, _):
            await other.introduce(endpointInfo={"name": "other", "version": "1"})
            assert (await other.lend(COUNT))["refused"] == []  # the name is free


@pytest.mark.parametrize(
    ("sent", "code", "words"),
    [
        ("Listening on port 80", 1000, "the first line has to be the answer"),
        (
            '{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":1,"role":"editor","endpointInfo":{"name":"a"}}}',
            1000,
            '"editor" is served on the hub',
        ),
        ("x" * (LARGEST_FRAME + 1), 1009, ""),
    ],
)
async def test_a_program_that_cannot_be_served_is_told_why_and_hung_up_on(
    home: Path, sent: str, code: int, words: str
) -> None:
    async with (
        open_gateway(home=home / "claw", owner=OWNER) as gateway,
        attached(gateway) as (program, messages),
    ):
        await program.receive()
        await program.send_bytes(sent.encode())
        last = await program.hear_all()
        assert messages.closed is not None
    assert messages.closed.code == code
    assert words in str(last.get("params"))


async def test_a_server_that_ends_asks_its_programs_to_leave(home: Path) -> None:
    async with anyio.create_task_group() as tasks, open_gateway(home=home / "claw", owner=OWNER) as gateway:
        await tasks.start(_until_the_end, gateway)


async def _until_the_end(gateway: SmallGateway, *, task_status: TaskStatus[None]) -> None:
    async with attached(gateway) as (program, _):
        await program.introduce()
        await program.lend()
        task_status.started()
        await program.hear_all()
    assert [one["method"] for one in program.heard if "method" in one] == ["initialize", "shutdown"]
