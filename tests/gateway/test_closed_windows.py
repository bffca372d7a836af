"""Clients of HTTP/2 that leave no room for answers."""

from pathlib import Path
from urllib.parse import urlsplit

import anyio
from h2.config import H2Configuration
from h2.connection import H2Connection
from h2.settings import SettingCodes, Settings

from claw_acp.gateway.http.limits import Limits
from tests.support.program.agent_process import TIMEOUT
from tests.support.servers.small_gateway import open_gateway


async def test_who_asks_without_leaving_room_for_the_answer_is_hung_up_on(home: Path) -> None:
    async with open_gateway(Limits(stall=0.05, unused=0.05), home=home) as gateway:
        place = urlsplit(gateway.url)
        assert place.hostname is not None
        assert place.port is not None
        async with await anyio.connect_tcp(place.hostname, place.port) as stream:
            protocol = H2Connection(H2Configuration(client_side=True))
            protocol.local_settings = Settings(client=True, initial_values={SettingCodes.INITIAL_WINDOW_SIZE: 0})
            protocol.initiate_connection()
            fields = [(":method", "GET"), (":path", "/acp"), (":scheme", "http"), (":authority", place.netloc)]
            protocol.send_headers(1, fields, end_stream=True)
            await stream.send(protocol.data_to_send())
            with anyio.fail_after(TIMEOUT):
                while True:
                    try:
                        protocol.receive_data(await stream.receive())
                    except anyio.EndOfStream:
                        break
                    if answer := protocol.data_to_send():
                        await stream.send(answer)
