"""Decisions, addresses and records of the proxy."""

import os
import socket
import stat

import anyio
import pytest
from anyio.abc import ByteStream

from claw_acp.core.errors import StoreError
from claw_acp.net.proxy.destination import Destination
from claw_acp.net.proxy.limits import Limits
from claw_acp.net.proxy.network_proxy import NetworkProxy
from claw_acp.net.proxy.verdict import NetworkRecord, Verdict
from claw_acp.sandbox.network_stage import open_door
from claw_acp.security.network_access import NetworkAccess
from claw_acp.security.rules import parse_rule
from tests.support.servers.behind_proxy import Behind, Names, all_of, behind, by_names, serving

ASK = "CONNECT a.test:22 HTTP/1.1\r\nHost: a.test\r\n\r\n"


async def hello(stream: ByteStream) -> None:
    """A server that says one word."""
    await stream.send(b"hello")


class Person:
    """Decides when told to, and counts how often it is asked."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.answered = anyio.Event()
        self.came = anyio.Event()

    async def decide(self, destination: Destination) -> Verdict:
        """Decide."""
        self.asked.append(destination.named)
        self.came.set()
        await self.answered.wait()
        return Verdict(allowed=True, private=True)


async def test_connections_wait_for_one_answer_and_all_get_it() -> None:
    person, answers = Person(), list[str]()
    async with (
        serving(hello) as port,
        behind({"a.test": port}, decide=person.decide) as inside,
        anyio.create_task_group() as tasks,
    ):

        async def connect() -> None:
            answers.append(await inside.asked(ASK))

        for _ in range(5):
            tasks.start_soon(connect)
        await person.came.wait()
        assert inside.names.asked == []
        person.answered.set()
    assert [answer.endswith("hello") for answer in answers] == [True] * 5
    assert person.asked == ["a.test:22"]


async def test_a_command_that_tries_all_hosts_fills_neither_the_log_nor_the_result() -> None:
    async with behind({}, limits=Limits(hosts=30)) as inside:
        for number in (0, 0, 0, *range(35)):
            await inside.asked(ASK.replace("a.test", f"a{number}.test"))
        assert "It has tried to reach too many hosts." in await inside.asked(ASK)
        told = inside.entrance.refusals_told().splitlines()
    assert len(inside.records) == 30
    assert (len(told), told[-1]) == (22, "- and 10 more")


@pytest.mark.parametrize(("allowed", "refused"), [(443, 80), (80, 443)])
async def test_what_was_decided_about_one_port_says_nothing_about_another(allowed: int, refused: int) -> None:
    rule = parse_rule(f"network(private a.test:{allowed})", verdict="allow")
    async with serving(hello) as port, behind({"a.test": port}, decide=NetworkAccess([rule]).decide) as inside:
        await (await inside.tunnel(f"a.test:{allowed}")).aclose()
        answer = await inside.asked(f"CONNECT a.test:{refused} HTTP/1.1\r\nHost: a.test\r\n\r\n")
        assert answer.startswith("HTTP/1.1 403 Blocked-by-claw-acp network(a.test)\r\n")


async def test_a_question_that_nobody_answers_is_a_refusal() -> None:
    limits = Limits(question=0.05)
    async with behind({"a.test": 9}, decide=Person().decide, limits=limits) as inside:
        answer = await inside.asked(ASK)
        assert answer.startswith("HTTP/1.1 403 Blocked-by-claw-acp network(a.test:22)\r\n")
        assert "Nobody decided in time" in inside.entrance.refusals_told()


@pytest.mark.parametrize(
    "address",
    ["127.0.0.1", "10.1.2.3", "169.254.169.254", "168.63.129.16", "0.0.0.0", "::1", "::ffff:127.0.0.1", "fe80::1%lo",
     "fd00::1", "64:ff9b::7f00:1", "100.64.0.1", "192.168.0.1", "224.0.0.1"],
)  # fmt: skip
async def test_a_permitted_name_that_leads_inside_is_refused(address: str) -> None:
    async def decide(destination: Destination) -> Verdict:
        return Verdict(allowed=True, rule="network(a.test)")

    async with behind({"a.test": [address]}, decide=decide) as inside:
        answer = await inside.asked("CONNECT a.test:443 HTTP/1.1\r\nHost: a.test\r\n\r\n")
    assert answer.startswith("HTTP/1.1 403 Blocked-by-claw-acp network(private a.test)\r\n")
    assert [line.outcome for line in inside.records] == ["allowed", "refused", "ended"]


@pytest.mark.parametrize(
    "address",
    ["169.254.169.254", "168.63.129.16", "100.100.100.200", "fd00:ec2::254", "0.0.0.0", "fe80::1%lo", "::ffff:7f00:1"],
)
async def test_a_name_of_ones_own_network_does_not_lead_to_the_metadata_of_a_cloud(address: str) -> None:
    rule = parse_rule("network(private wiki.lan)", verdict="allow")
    async with behind({"wiki.lan": [address]}, decide=NetworkAccess([rule]).decide) as inside:
        answer = await inside.asked("CONNECT wiki.lan:443 HTTP/1.1\r\nHost: wiki.lan\r\n\r\n")
    assert answer.startswith("HTTP/1.1 403 Blocked-by-claw-acp\r\n")
    assert "No rule allows that to a command." in answer


async def test_one_private_address_among_public_ones_is_a_trap() -> None:
    async def resolve(host: str, port: int) -> list[tuple[str, int]]:
        return [("93.184.216.34", port), ("127.0.0.1", port)]

    async def decide(destination: Destination) -> Verdict:
        return Verdict(allowed=True)

    async with NetworkProxy(resolve=resolve).entrance(decide) as entrance:
        inside = Behind(entrance, open_door(str(entrance.socket)), Names({}), [])
        assert "403 Blocked-by-claw-acp network(private a.test:22)" in await inside.asked(ASK)


async def test_a_name_is_looked_up_once_for_each_connection_and_that_address_is_dialled() -> None:
    addresses = ["127.0.0.1", "10.0.0.1"]

    async def decide(destination: Destination) -> Verdict:
        return Verdict(allowed=True, private=len(addresses) == 2)

    async with serving(hello) as port:
        ask = ASK.replace(":22", f":{port}")
        async with behind({"a.test": addresses}, decide=decide) as inside:
            assert (await inside.asked(ask)).endswith("hello")
            assert inside.names.asked == ["a.test"]


@pytest.mark.parametrize(("hosts", "reason"), [({}, "its name does not resolve"), ({"a.test": 9}, "refused")])
async def test_a_permitted_host_that_cannot_be_reached_is_not_called_blocked(
    hosts: dict[str, int | list[str]], reason: str
) -> None:
    async with behind(hosts, decide=by_names("a.test:22")) as inside:
        answer = await inside.asked(ASK)
        assert answer.startswith("HTTP/1.1 502 Unreachable a.test\r\n")
        assert reason in answer.lower()
        assert inside.entrance.refusals_told() == ""


async def test_a_connection_that_cannot_be_recorded_is_not_made() -> None:
    arrived: list[bytes] = []

    async def serve(stream: ByteStream) -> None:
        arrived.append(await stream.receive())

    async def record(line: NetworkRecord) -> None:
        raise StoreError("the disk is full")

    async with serving(serve) as port:
        names = Names({"a.test": port})
        async with NetworkProxy(resolve=names).entrance(by_names("a.test:22"), record=record) as entrance:
            inside = Behind(entrance, open_door(str(entrance.socket)), names, [])
            assert (await inside.asked(ASK)).endswith("the disk is full\n")
    assert (names.asked, arrived) == ([], [])


async def test_the_entrance_takes_one_socket_and_is_gone_then() -> None:
    async with behind({}) as inside:
        await inside.asked("GET / HTTP/1.1\r\n\r\n")
        assert not inside.entrance.socket.parent.exists()


@pytest.mark.parametrize("kind", ["bytes", "a pipe", "a bound socket", "an end"])
async def test_anything_but_a_listening_socket_opens_nothing(kind: str) -> None:
    async with NetworkProxy(resolve=Names({})).entrance(by_names()) as entrance:
        async with await anyio.connect_unix(entrance.socket) as stream:
            reading, writing = os.pipe()
            with socket.socket() as bound:
                bound.bind(("127.0.0.1", 0))
                match kind:
                    case "bytes":
                        await stream.send(b"GET http://a.test/ HTTP/1.1\r\n\r\n")
                    case "a pipe":
                        await stream.send_fds(b"\0", [reading])
                    case "a bound socket":
                        await stream.send_fds(b"\0", [bound.fileno()])
                    case _:
                        await stream.send_eof()
                assert await all_of(stream) == b""
            os.close(reading)
            os.close(writing)
        with pytest.raises(OSError, match="No such file"):
            await anyio.connect_unix(entrance.socket)


async def test_an_entrance_that_nobody_used_leaves_nothing() -> None:
    async with NetworkProxy(resolve=Names({})).entrance(by_names()) as entrance:
        assert stat.filemode(entrance.socket.stat().st_mode) == "srw-------"
        assert stat.filemode(entrance.socket.parent.stat().st_mode) == "drwx------"
    assert not entrance.socket.parent.exists()


async def test_an_error_of_the_command_passes_through_as_it_is() -> None:
    with pytest.raises(StoreError):
        async with behind({}):
            raise StoreError("of the command")
