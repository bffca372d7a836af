"""Finding out how a program speaks, and remembering it."""

import json
import os
import sys
from pathlib import Path

import anyio
import pytest

from claw_acp.contracts.provider_setup import ProviderProgram, ProviderSetup
from claw_acp.core.errors import ProviderAuthFailed, ProviderUnavailable, RequestRejected
from claw_acp.core.value import replace
from claw_acp.providers.binary import PLUGIN_DEFAULT
from claw_acp.providers.binary import provider as module
from claw_acp.providers.binary.detection import FILE_NAME, KEPT, Finding, Memory
from claw_acp.providers.binary.failures import PluginNotStarted
from claw_acp.providers.binary.introduction import read_offer
from claw_acp.providers.binary.provider import BinaryProvider
from tests.providers.binary.support import ONESHOT, SESSION, gone, program, provider_of, saying
from tests.providers.conversation import READ
from tests.support.fixed_clock import FixedClock

OFFER = read_offer(
    {"protocolVersion": 1, "capabilities": {"thinking": True}, "models": [{"id": "m", "contextWindow": 9}]}
)

SILENT = """
echo x >> "$0.starts"
read -r line
case $line in
    *initialize*) read -r end ;;
    *) echo '{"jsonrpc":"2.0","id":1,"result":{"content":"hello"}}' ;;
esac
"""

STREAMING = SILENT.replace(
    "    *)",
    """    *) echo '{"jsonrpc":"2.0","method":"chat/delta","params":{"requestId":1,"type":"text","text":"hello"}}'
      """,
)

COLD_ONCE = """
read -r line
case $line in
    *initialize*)
        if [ ! -e "$0.warm" ]; then : > "$0.warm"; read -r end; exit; fi
        echo '{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":1}}'
        while read -r line; do
            id=${line#*'"id":'}; id=${id%%,*}
            echo '{"jsonrpc":"2.0","id":'"$id"',"result":{"content":"stayed"}}'
        done ;;
    *) echo '{"jsonrpc":"2.0","id":1,"result":{"content":"hello"}}' ;;
esac
"""

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


def counting(folder: Path, text: str = COUNTING) -> ProviderProgram:
    """A shell script that counts its starts."""
    script = folder / "plugin.sh"
    script.write_text(text)
    return ProviderProgram(command="/bin/sh", args=(str(script),))


def starts(plugin: ProviderProgram) -> int:
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


async def test_a_silent_program_is_believed_to_be_one_shot_the_second_time_and_for_a_day(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(module, "DETECTION_SECONDS", 0.2)
    plugin, clock = counting(tmp_path, SILENT), FixedClock()
    (tmp_path / "plugin.sh.starts").touch()

    async def asked() -> int:
        before = starts(plugin)
        provider = BinaryProvider(ProviderSetup(name="mine", kind="binary", program=plugin, clock=clock))
        assert await answer(provider) == "hello"
        return starts(plugin) - before

    assert [await asked() for _ in range(4)] == [2, 2, 1, 1]
    warnings = [record for record in caplog.records if record.levelname == "WARNING"]
    assert len(warnings) == 2
    assert 'protocol = "session"' in str(warnings[0].__dict__["mend"])
    assert str(warnings[0].__dict__["remembered"]).endswith(FILE_NAME)
    clock.seconds += 25 * 3600
    assert [await asked() for _ in range(2)] == [2, 1]


async def test_a_silent_program_is_asked_again_by_the_same_provider(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "DETECTION_SECONDS", 0.2)
    plugin = counting(tmp_path, SILENT)
    provider = provider_of(plugin)
    assert [(await answer(provider), starts(plugin)) for _ in range(3)] == [("hello", 2), ("hello", 4), ("hello", 5)]


async def test_a_plugin_that_is_slow_to_start_once_is_a_session_plugin_the_next_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plugin = counting(tmp_path, COLD_ONCE)
    provider = provider_of(plugin)
    with monkeypatch.context() as cold:
        cold.setattr(module, "DETECTION_SECONDS", 0.5)
        assert await answer(provider) == "hello"
    assert await answer(provider) == "stayed"
    found = Memory.of_user().recall(plugin)
    assert found is not None
    assert found.protocol == "session"


async def test_a_silent_program_that_streams_is_never_remembered_as_one_shot(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "DETECTION_SECONDS", 0.2)
    plugin = counting(tmp_path, STREAMING)
    for number in range(1, 4):
        assert (await answer(provider_of(plugin)), starts(plugin)) == ("hello", 2 * number)
        assert Memory.of_user().recall(plugin) is None


async def test_who_asks_at_the_same_time_waits_for_what_another_finds(tmp_path: Path) -> None:
    plugin = counting(tmp_path)
    async with anyio.create_task_group() as tasks:
        for _ in range(3):
            tasks.start_soon(provider_of(plugin).models)
        tasks.start_soon(answer, provider_of(plugin))
    assert starts(plugin) == 2


async def test_what_could_not_be_found_out_is_looked_for_by_the_next(tmp_path: Path) -> None:
    lost = ProviderProgram(command=str(tmp_path / "lost"))
    failures: list[str] = []

    async def asked() -> None:
        with pytest.raises(PluginNotStarted) as caught:
            await provider_of(lost).models()
        failures.append(caught.value.message)

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(asked)
        tasks.start_soon(asked)
    assert len(failures) == 2


async def test_a_silent_program_that_fails_is_not_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    """It reads to the end of its input, which comes only with its own end."""
    monkeypatch.setattr(module, "DETECTION_SECONDS", 0.2)
    failing = program(ONESHOT, "quits", protocol="auto")
    with pytest.raises(Exception, match="no licence"):
        await answer(provider_of(failing))
    assert Memory.of_user().recall(failing) is None


async def test_a_silent_program_is_ended_with_what_it_started(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "DETECTION_SECONDS", 0.3)
    pids = tmp_path / "pids"
    script = f"sleep 1000 & echo $$ $! >> {pids}; read -r line; read -r end || exit 7; wait"
    with pytest.raises(ProviderUnavailable, match="code 7"):
        await answer(provider_of(ProviderProgram(command="/bin/sh", args=("-c", script))))
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
    plugin = ProviderProgram(command="/bin/sh", args=(str(script),))
    Memory.of_user().keep(plugin, Finding(protocol="session", offer=OFFER))
    with pytest.raises(ProviderUnavailable, match="no memory"):
        await answer(provider_of(plugin))
    assert Memory.of_user().recall(plugin) == Finding(protocol="session", offer=OFFER)


@pytest.mark.parametrize(
    ("said", "why"),
    [
        ('{"jsonrpc":"2.0","id":1,"result":{}}', "it answered `initialize` without a `protocolVersion`"),
        ('{"jsonrpc":"2.0","id":7,"result":{}}', r"it wrote a line that is no answer \(an answer to nothing\)"),
        ("hello", r"it wrote a line that is no answer \(not JSON\): hello\."),
        (
            '{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"what?"}}',
            r"it answered `initialize` with error -32601 \(what\?\)",
        ),
    ],
)
async def test_a_program_that_was_said_to_be_a_session_plugin_and_is_none_is_told_at_once(said: str, why: str) -> None:
    """At once: it runs on in silence, and its thirty seconds are more than this test has."""
    plugin = ProviderProgram(
        command="/bin/sh", args=("-c", f"read -r line; echo '{said}'; exec sleep 1000"), protocol="session"
    )
    told = f'does not speak the session protocol: {why}.*protocol = "oneshot" in \\[providers\\.mine\\]'
    with pytest.raises(RequestRejected, match=told):
        await answer(provider_of(plugin))


async def test_one_that_says_nothing_at_all_is_told_later(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "INTRODUCTION_SECONDS", 0.2)
    plugin = ProviderProgram(command="/bin/sh", args=("-c", "exec sleep 1000"), protocol="session")
    with pytest.raises(RequestRejected, match=r"it did not answer `initialize` within 0\.2 s\. .*oneshot"):
        await answer(provider_of(plugin))


async def test_one_that_ends_at_once_is_told_at_once_with_its_last_words() -> None:
    plugin = ProviderProgram(command="/bin/sh", args=("-c", "echo bad option >&2; exit 2"), protocol="session")
    with pytest.raises(
        ProviderUnavailable, match=r"code 2: bad option\. .*protocol = \"oneshot\" in \[providers\.mine\]"
    ):
        await answer(provider_of(plugin))


async def test_what_keeps_a_session_plugin_from_starting_is_its_own_error() -> None:
    said = '{"jsonrpc":"2.0","id":1,"error":{"code":-31001,"message":"no key"}}'
    plugin = ProviderProgram(
        command="/bin/sh", args=("-c", f"read -r line; echo '{said}'; read -r end"), protocol="session"
    )
    with pytest.raises(ProviderAuthFailed, match="no key"):
        await answer(provider_of(plugin))


async def test_a_message_of_the_protocol_may_come_before_the_introduction() -> None:
    script = """
echo '{"jsonrpc":"2.0","method":"log","params":{}}'
read -r line; echo '{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":1}}'
read -r line; echo '{"jsonrpc":"2.0","id":2,"result":{"content":"hello"}}'
"""
    assert (
        await answer(provider_of(ProviderProgram(command="/bin/sh", args=("-c", script), protocol="session")))
        == "hello"
    )


async def test_what_a_session_plugin_can_do_is_known_before_it_runs_again() -> None:
    plugin = program(SESSION, protocol="session")
    early = provider_of(plugin)
    assert not early.capabilities("large").images
    assert await answer(provider_of(plugin), "whole hello") == "hello"
    for provider in (early, provider_of(plugin)):
        assert provider.capabilities("large").images
        assert provider.capabilities("large").context_window == 200000


@pytest.mark.parametrize(("model", "sees"), [("any", False), (PLUGIN_DEFAULT, False), ("gpt-4o", True)])
async def test_a_one_shot_plugin_takes_tools_and_sees_only_with_a_model_that_is_known_to(
    model: str, sees: object, tmp_path: Path
) -> None:
    able = provider_of(replace(counting(tmp_path), protocol="oneshot")).capabilities(model)
    assert (able.tools, able.images) == (True, sees)


async def test_a_one_shot_plugin_has_no_list_of_models(tmp_path: Path) -> None:
    provider = provider_of(replace(counting(tmp_path), protocol="oneshot"))
    assert await provider.models() == ()
    assert (await provider.chat(replace(saying("hi"), tools=(READ,)))).text == "hello"


@pytest.mark.parametrize("damage", [b"", b"{", b"[]", b"\xff", b'{"k": 7}', b"[" * 100_000])
def test_a_damaged_file_holds_nothing_and_is_replaced(damage: bytes, tmp_path: Path) -> None:
    path = tmp_path / "cache" / FILE_NAME
    path.parent.mkdir()
    path.write_bytes(damage)
    plugin = ProviderProgram(command=sys.executable)
    memory = Memory(path)
    assert memory.recall(plugin) is None
    memory.keep(plugin, Finding(protocol="session", offer=OFFER))
    assert memory.recall(plugin) == Finding(protocol="session", offer=OFFER)
    assert [file.name for file in path.parent.iterdir()] == [FILE_NAME]


def test_only_so_many_plugins_are_remembered(tmp_path: Path) -> None:
    path = tmp_path / FILE_NAME
    memory = Memory(path)
    for number in range(KEPT + 5):
        memory.keep(ProviderProgram(command="sh", args=(str(number),)), Finding(protocol="oneshot"))
    assert len(json.loads(path.read_text())) == KEPT
    assert memory.recall(ProviderProgram(command="sh", args=("4",))) is None
    assert memory.recall(ProviderProgram(command="sh", args=("5",))) == Finding(protocol="oneshot")
    memory.keep(ProviderProgram(command="sh", args=("5",)), None)
    assert memory.recall(ProviderProgram(command="sh", args=("5",))) is None


def test_a_cache_that_cannot_be_written_is_no_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    memory = Memory(tmp_path / "file" / FILE_NAME)
    memory.keep(ProviderProgram(command="sh"), Finding(protocol="oneshot"))
    assert memory.recall(ProviderProgram(command="sh")) is None
