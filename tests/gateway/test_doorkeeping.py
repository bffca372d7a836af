"""Who may come in: tokens, hosts, origins, and where a server may listen at all."""

import os
import stat
from pathlib import Path

import pytest

from claw_acp.core.errors import ConfigError
from claw_acp.gateway.address import Address
from tests.gateway.conftest import INITIALIZE, Serve
from tests.support.editors.terminal import at_terminal
from tests.support.servers.remote_server import RemoteServer, refused_start

TOKEN = "a-token-of-my-own.0123456789"


async def status_of(server: RemoteServer, method: str = "POST", **headers: str) -> int:
    named = {name.replace("_", "-").encode(): value.encode() for name, value in headers.items()}
    async with server.http() as client:
        client.headers.pop("authorization", None)
        return (await client.request(method, server.url, json=INITIALIZE, headers=named)).status_code


# ---------------------------------------------------------------------- tokens


async def test_without_the_token_nothing_is_served(shared: RemoteServer) -> None:
    async with shared.http() as client:
        del client.headers["authorization"]
        for method in ("POST", "GET", "DELETE", "PUT"):
            answer = await client.request(method, shared.url, json=INITIALIZE)
            assert (answer.status_code, answer.headers["www-authenticate"]) == (401, 'Bearer realm="acp"')


@pytest.mark.parametrize("shown", ["Bearer wrong", "Bearer", "Basic {}", "{}", "Bearer {}x", "Bearer é"])
async def test_only_the_token_itself_opens(shared: RemoteServer, shown: str) -> None:
    assert await status_of(shared, authorization=shown.format(shared.token)) == 401


async def test_the_scheme_may_be_written_in_any_case(shared: RemoteServer) -> None:
    assert await status_of(shared, authorization=f"bearer {shared.token}") == 200


async def test_a_token_in_the_address_does_not_count(shared: RemoteServer) -> None:
    async with shared.http() as client:
        del client.headers["authorization"]
        answer = await client.post(shared.url, params={"token": shared.token}, json=INITIALIZE)
        assert answer.status_code == 401


async def test_a_new_token_is_kept_for_the_user_alone_and_stays_out_of_logs(serve: Serve, home: Path) -> None:
    file = home / "claw" / "serve-token"
    async with serve() as server:
        first = server.token
        assert first not in server.process.stderr()
        assert f"the one in {file}" in server.process.stderr()
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    async with serve() as server:
        assert server.token == first
        assert await status_of(server, authorization=f"Bearer {first}") == 200


def test_a_new_token_is_shown_on_a_terminal(home: Path) -> None:
    file = home / "serve-token"
    environ = {"PATH": os.environ["PATH"], "CLAW_ACP_HOME": str(home), "CLAW_ACP_LOCAL_SERVERS": "off"}
    with at_terminal("serve", "--listen", "127.0.0.1:0", environ=environ, cwd=home) as terminal:
        terminal.wait_for(f"(new, kept in {file})")
        assert file.read_text().strip() in terminal.printed


async def test_a_token_of_ones_own(serve: Serve, home: Path) -> None:
    file = home / "token"
    file.write_text(f"{TOKEN}\n")
    async with serve() as default:
        kept = default.token
    async with serve(arguments=["--token-file", str(file)]) as server:
        assert await status_of(server, authorization=f"Bearer {TOKEN}") == 200
        assert await status_of(server, authorization=f"Bearer {kept}") == 401
        assert TOKEN not in server.process.stderr()


@pytest.mark.parametrize("text", ["", "short", "with spaces in it, and long", "a/slash/and=equals+plus", "ü" * 20])
def test_a_token_that_no_header_can_carry_is_refused_at_the_start(home: Path, text: str) -> None:
    file = home / "token"
    file.write_text(text)
    said = refused_start("--token-file", str(file), home=home)
    assert f"the token file {file} must hold one line" in said
    assert "Traceback" not in said


def test_a_token_file_that_is_not_there_is_named(home: Path) -> None:
    assert "cannot be read: No such file" in refused_start("--token-file", str(home / "none"), home=home)


async def test_without_a_token_this_machine_may_come_in(serve: Serve) -> None:
    async with serve(arguments=["--no-token"]) as server:
        assert await status_of(server) == 200
        assert "every program of every user on this machine" in server.process.stderr()


async def test_without_a_token_only_pages_that_were_named_may_come_in(serve: Serve) -> None:
    page = "http://localhost:3000"
    async with serve(arguments=["--no-token", "--allow-origin", page]) as server:
        assert await status_of(server, origin=page) == 200
        own = server.url.removesuffix("/acp")
        for origin in ("http://localhost:3001", "http://127.0.0.1:3000", "https://localhost:3000", own, "null"):
            for method in ("POST", "OPTIONS"):
                assert await status_of(server, method, origin=origin) == 403, origin
        for site in ("same-site", "cross-site", "same-origin"):
            assert await status_of(server, sec_fetch_site=site) == 403, site
        upgrade = {"connection": "Upgrade", "upgrade": "websocket", "sec-websocket-key": "x" * 22 + "=="}
        upgrade |= {"sec-websocket-version": "13", "origin": "http://localhost:3001"}
        assert await status_of(server, "GET", **upgrade) == 403


# ---------------------------------------------------------------------- hosts and origins


async def test_only_names_that_are_ours_are_served(serve: Serve) -> None:
    async with serve(arguments=["--no-token", "--allow-host", "Agent.example"]) as server:
        for host in (
            "evil.example",
            "127.0.0.1.evil.example",
            "localhost.evil.example",
            "10.0.0.1",
            "x@localhost",
            "@",
            "localhost#.evil",
            "localhost?x",
            "localhost\\x",
            "localhost:80:80",
            "localhost:x",
            "local host",
            "localhost,evil.example",
            "127.0.0.1%lo",
            "[::1%lo]",
            "[localhost]",
            "::1",
            "%6cocalhost",
        ):
            assert await status_of(server, host=host) == 403, host
        port = server.url.split(":")[2].partition("/")[0]
        for host in ("localhost", f"localhost:{port}", "127.0.0.1", "[::1]:80", "x.localhost", "agent.example:443"):
            assert await status_of(server, host=host) == 200, host


@pytest.mark.parametrize(
    ("origin", "status"),
    [
        ("https://evil.example", 403),
        ("null", 403),
        ("", 403),
        ("file://", 403),
        ("http://localhost.evil.example", 403),
        ("http://127.0.0.1@evil.example", 403),
        ("http://[broken", 403),
        ("http://localhost#.evil", 403),
        ("http://localhost?x", 403),
        ("http://localhost/x", 403),
        ("http://localhost:80:80", 403),
        ("http://localhost http://evil.example", 403),
        ("ws://localhost", 403),
        ("http://localhost:3000", 200),
        ("https://127.0.0.1", 200),
        ("http://[::1]:8080", 200),
    ],
)
async def test_pages_of_this_machine_may_come_and_no_others(shared: RemoteServer, origin: str, status: int) -> None:
    assert await status_of(shared, authorization=f"Bearer {shared.token}", origin=origin) == status


async def test_a_page_that_was_named_may_come_and_read(serve: Serve) -> None:
    page = "https://editor.example"
    async with serve(arguments=["--allow-origin", f"{page}/"]) as server, server.http() as client:
        preflight = {"Origin": page, "Access-Control-Request-Method": "POST"}
        asked = await client.options(server.url, headers=preflight)
        assert asked.status_code == 204
        assert asked.headers["access-control-allow-origin"] == page
        assert "authorization" in asked.headers["access-control-allow-headers"].lower()
        answer = await client.post(server.url, json=INITIALIZE, headers={"Origin": page})
        assert answer.headers["access-control-allow-origin"] == page
        assert "acp-connection-id" in answer.headers["access-control-expose-headers"].lower()
        strange = await client.options(server.url, headers={**preflight, "Origin": "https://evil.example"})
        assert strange.status_code == 403
        assert "access-control-allow-origin" not in strange.headers


async def test_a_preflight_of_a_page_here_needs_no_token(shared: RemoteServer) -> None:
    assert await status_of(shared, "OPTIONS", origin="http://localhost:3000") == 204


@pytest.mark.parametrize("arguments", [["--connections", "0"], ["--idle", "x"], ["--token-file", "x", "--no-token"]])
def test_options_that_make_no_sense_are_wrong_usage(home: Path, arguments: list[str]) -> None:
    assert "usage: claw-acp serve" in refused_start(*arguments, home=home, code=2)


async def test_connections_are_as_many_as_was_said(serve: Serve) -> None:
    async with serve(arguments=["--connections", "1", "--idle", "5"]) as server, server.http() as client:
        assert (await client.post(server.url, json=INITIALIZE)).status_code == 200
        assert (await client.post(server.url, json=INITIALIZE)).status_code == 503


# ---------------------------------------------------------------------- where to listen


@pytest.mark.parametrize("address", ["0.0.0.0:0", "[::]:0", "192.0.2.1:0", "example.com:0"])
def test_without_a_token_only_this_machine_is_served(home: Path, address: str) -> None:
    assert "--no-token would let anyone" in refused_start("--no-token", "--listen", address, home=home)


async def test_other_machines_are_served_with_a_token_and_a_warning(serve: Serve) -> None:
    async with serve(arguments=["--listen", "0.0.0.0:0"]) as server:
        assert "not encrypted" in server.process.stderr()
        server.url = server.url.replace("0.0.0.0", "127.0.0.1")
        assert await status_of(server) == 401
        assert await status_of(server, authorization=f"Bearer {server.token}", host="192.0.2.7:80") == 200
        assert await status_of(server, authorization=f"Bearer {server.token}", host="evil.example") == 403


async def test_of_two_servers_on_one_port_the_second_says_who_is_there(shared: RemoteServer, home: Path) -> None:
    where = shared.url.removeprefix("http://").removesuffix("/acp")
    said = refused_start("--listen", where, home=home)
    assert f"cannot listen on {where}: another claw-acp server is listening there" in said
    assert "--listen HOST:PORT" in said


@pytest.mark.parametrize(
    ("written", "host", "port"),
    [
        ("127.0.0.1:80", "127.0.0.1", 80),
        (":80", "127.0.0.1", 80),
        ("localhost", "localhost", 8227),
        ("[::1]:80", "::1", 80),
        ("[::1]", "::1", 8227),
        ("", "127.0.0.1", 8227),
    ],
)
def test_addresses_as_people_write_them(written: str, host: str, port: int) -> None:
    assert Address.parse(written) == Address(host=host, port=port)


@pytest.mark.parametrize("written", ["a:b", "::1", "x:99999", "http://x", "x:1:2", "[::1", "a b:1", "user@x:1"])
def test_what_is_no_address_is_said_to_be_none(written: str) -> None:
    with pytest.raises(ConfigError, match="is no address to listen on"):
        Address.parse(written)


def test_a_host_that_does_not_exist_is_told(home: Path) -> None:
    assert 'cannot listen on "nowhere.invalid"' in refused_start("--listen", "nowhere.invalid:0", home=home)
