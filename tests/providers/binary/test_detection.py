"""Finding out how a program speaks, and remembering it."""

import json
import os
import sys
from pathlib import Path

import pytest

from claw_acp.contracts.provider_setup import Program
from claw_acp.core.errors import ProviderUnavailable, RequestRejected
from claw_acp.core.value import replace
from claw_acp.providers.binary import provider as module
from claw_acp.providers.binary.detection import FILE_NAME, KEPT, Finding, Memory
from claw_acp.providers.binary.offer import read_offer
from claw_acp.providers.binary.provider import BinaryProvider
from tests.providers.binary.support import ONESHOT, SESSION, gone, program, provider_of, saying
from tests.providers.conversation import READ

OFFER = read_offer(
    {"protocolVersion": 1, "capabilities": {"thinking": True}, "models": [{"id": "m", "contextWindow": 9}]}
)

COUNTING = """
echo x >> "$0.starts"
read -r line
case $line in
    *initialize*) echo '{"jsonrpc":"2.0","id":1,"result":{"content":"what?"}}' ;;
    *) echo '{"jsonrpc":"2.0","id":1,"result":{"content":"hello"}}' ;;
esac
"""


@pytest.fixture(autouse=True)
def _patient(monkeypatch: pytest.MonkeyPatch) -> None:  # pyright: ignore[reportUnusedFunction]
    """A busy machine may take its time to start a program that answers."""
    monkeypatch.setattr(module, "DETECTION_SECONDS", 20.0)


def counting(folder: Path) -> Program:
    """A shell script that counts its starts."""
    script = folder / "plugin.sh"
    script.write_text(COUNTING)
    return Program(command="/bin/sh", args=(str(script),))


def starts(plugin: Program) -> int:
    return Path(f"{plugin.args[0]}.starts").read_text().count("x")


async def answer(provider: BinaryProvider, text: str = "hi") -> str:
    try:
        return (await provider.chat(saying(text))).text
    finally:
        await provider.aclose()


async def test_a_plugin_of_the_old_kind_is_probed_once(tmp_path: Path) -> None:
    plugin = counting(tmp_path)
    first = provider_of(plugin)
    assert (await answer(first), starts(plugin)) == ("hello", 2)
    assert (await answer(first), starts(plugin)) == ("hello", 3)
    assert (await answer(provider_of(plugin)), starts(plugin)) == ("hello", 4)


async def test_a_plugin_that_has_changed_is_probed_again(tmp_path: Path) -> None:
    plugin = counting(tmp_path)
    await answer(provider_of(plugin))
    os.utime(plugin.args[0], ns=(1, 1))
    assert (await answer(provider_of(plugin)), starts(plugin)) == ("hello", 4)


async def test_a_silent_program_is_taken_for_one_shot_and_remembered_when_it_has_answered(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """It reads to the end of its input, which comes only with its own end."""
    monkeypatch.setattr(module, "DETECTION_SECONDS", 0.2)
    silent = program(ONESHOT, "half", protocol="auto")
    assert await answer(provider_of(silent)) == "no line end"
    assert Memory.of_user().recall(silent) == Finding(protocol="oneshot")
    failing = program(ONESHOT, "quits", protocol="auto")
    with pytest.raises(Exception, match="no licence"):
        await answer(provider_of(failing))
    assert Memory.of_user().recall(failing) is None


async def test_a_silent_program_is_ended_with_what_it_started(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "DETECTION_SECONDS", 0.3)
    pids = tmp_path / "pids"
    script = f"sleep 1000 & echo $$ $! >> {pids}; read -r line; read -r end || exit 7; wait"
    with pytest.raises(ProviderUnavailable, match="code 7"):
        await answer(provider_of(Program(command="/bin/sh", args=("-c", script))))
    for pid in map(int, pids.read_text().split()):
        await gone(pid)


async def test_a_session_plugin_is_found_and_its_abilities_are_known_next_time() -> None:
    plugin = program(SESSION, "no-tools", protocol="auto")
    first = provider_of(plugin)
    assert first.capabilities("large").tools
    assert await answer(first, "whole hello") == "hello"
    later = provider_of(plugin)
    assert not later.capabilities("large").tools
    assert later.capabilities("large").context_window == 200000
    assert await answer(later, "whole again") == "again"


async def test_what_was_remembered_wrongly_is_found_out(tmp_path: Path) -> None:
    plugin = counting(tmp_path)
    Memory.of_user().keep(plugin, Finding(protocol="session", offer=OFFER))
    assert await answer(provider_of(plugin)) == "hello"
    assert Memory.of_user().recall(plugin) == Finding(protocol="oneshot")


async def test_a_session_plugin_that_dies_at_its_start_stays_one(tmp_path: Path) -> None:
    script = tmp_path / "plugin.sh"
    script.write_text("echo no memory >&2; exit 1")
    plugin = Program(command="/bin/sh", args=(str(script),))
    Memory.of_user().keep(plugin, Finding(protocol="session", offer=OFFER))
    with pytest.raises(ProviderUnavailable, match="no memory"):
        await answer(provider_of(plugin))
    assert Memory.of_user().recall(plugin) == Finding(protocol="session", offer=OFFER)


@pytest.mark.parametrize("said", ['{"jsonrpc":"2.0","id":1,"result":{}}', "hello"])
async def test_a_program_that_was_said_to_be_a_session_plugin_and_is_none_is_told(
    said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "INTRODUCTION_SECONDS", 0.2)
    plugin = Program(command="/bin/sh", args=("-c", f"echo '{said}'; exec sleep 1000"), protocol="session")
    with pytest.raises(RequestRejected, match=r"does not speak the session protocol.*\[providers\.mine\]"):
        await answer(provider_of(plugin))


async def test_a_one_shot_plugin_has_all_abilities_and_no_list_of_models(tmp_path: Path) -> None:
    provider = provider_of(replace(counting(tmp_path), protocol="oneshot"))
    assert provider.capabilities("any").tools
    assert provider.capabilities("any").images
    assert await provider.models() == ()
    assert (await provider.chat(replace(saying("hi"), tools=(READ,)))).text == "hello"


@pytest.mark.parametrize("damage", [b"", b"{", b"[]", b"\xff", b'{"k": 7}', b"[" * 100_000])
def test_a_damaged_file_holds_nothing_and_is_replaced(damage: bytes, tmp_path: Path) -> None:
    path = tmp_path / "cache" / FILE_NAME
    path.parent.mkdir()
    path.write_bytes(damage)
    plugin = Program(command=sys.executable)
    memory = Memory(path)
    assert memory.recall(plugin) is None
    memory.keep(plugin, Finding(protocol="session", offer=OFFER))
    assert memory.recall(plugin) == Finding(protocol="session", offer=OFFER)
    assert [file.name for file in path.parent.iterdir()] == [FILE_NAME]


def test_only_so_many_plugins_are_remembered(tmp_path: Path) -> None:
    path = tmp_path / FILE_NAME
    memory = Memory(path)
    for number in range(KEPT + 5):
        memory.keep(Program(command="sh", args=(str(number),)), Finding(protocol="oneshot"))
    assert len(json.loads(path.read_text())) == KEPT
    assert memory.recall(Program(command="sh", args=("4",))) is None
    assert memory.recall(Program(command="sh", args=("5",))) == Finding(protocol="oneshot")
    memory.keep(Program(command="sh", args=("5",)), None)
    assert memory.recall(Program(command="sh", args=("5",))) is None


def test_a_cache_that_cannot_be_written_is_no_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    memory = Memory(tmp_path / "file" / FILE_NAME)
    memory.keep(Program(command="sh"), Finding(protocol="oneshot"))
    assert memory.recall(Program(command="sh")) is None
