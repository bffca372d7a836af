"""Plugins of the tests as providers, and what is left of them."""

import os
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Literal

from claw_acp.contracts.provider import ChatRequest, ChatResponse, Finished, StreamEvent, TextChunk, ThoughtChunk
from claw_acp.contracts.provider_setup import ProviderProgram, ProviderSetup
from claw_acp.core.messages import Message
from claw_acp.core.secret import Secret
from claw_acp.providers.binary.provider import BinaryProvider
from tests.providers.conversation import asking
from tests.support.program.agent_process import eventually

PLUGINS = Path(__file__).with_name("plugins")
SESSION = PLUGINS / "session_plugin.py"
ONESHOT = PLUGINS / "oneshot_plugin.py"

Protocol = Literal["auto", "oneshot", "session"]


def program(
    script: Path, *args: str, protocol: Protocol, cwd: Path | None = None, env: dict[str, str] | None = None
) -> ProviderProgram:
    """A Python script as a plugin, without what makes Python slow to start."""
    return ProviderProgram(
        command=sys.executable,
        args=("-S", "-E", str(script), *args),
        protocol=protocol,
        cwd=cwd,
        env=tuple((name, Secret(value)) for name, value in (env or {}).items()),
    )


def provider_of(program: ProviderProgram, *, timeout: float = 20.0) -> BinaryProvider:
    """A provider named `mine`."""
    return BinaryProvider(ProviderSetup(name="mine", kind="binary", program=program, timeout=timeout))


def oneshot(mode: str, *args: str, timeout: float = 20.0) -> BinaryProvider:
    """A provider whose plugin behaves as `mode` says."""
    return provider_of(program(ONESHOT, mode, *args, protocol="oneshot"), timeout=timeout)


@asynccontextmanager
async def session(
    *args: str, protocol: Protocol = "session", within: float = 20.0, env: dict[str, str] | None = None
) -> AsyncGenerator[BinaryProvider]:
    """A provider whose plugin stays until the end of the block."""
    provider = provider_of(program(SESSION, *args, protocol=protocol, env=env), timeout=within)
    try:
        yield provider
    finally:
        await provider.aclose()


def saying(text: str, **options: Any) -> ChatRequest:
    """A request whose only message is `text`."""
    return asking(Message.user(text), model="", **options)


async def heard(provider: BinaryProvider, text: str) -> tuple[list[StreamEvent], ChatResponse]:
    """The chunks of an answer, and the whole."""
    events = [event async for event in provider.stream(saying(text))]
    last = events.pop()
    assert isinstance(last, Finished)
    assert all(isinstance(event, TextChunk | ThoughtChunk) for event in events)
    return events, last.response


def runs(pid: int) -> bool:
    """Whether a process is there and no zombie."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


async def gone(pid: int) -> None:
    """Wait for the end of a process."""
    await eventually(lambda: not runs(pid), what=f"the end of {pid}")


async def group_gone(group: int) -> None:
    """Wait for the end of all processes of a group."""

    def members() -> list[int]:
        return [pid for pid in map(int, filter(str.isdecimal, os.listdir("/proc"))) if _group(pid) == group]  # noqa: PTH208

    await eventually(lambda: not any(map(runs, members())), what=f"the end of group {group}")


def _group(pid: int) -> int:
    try:
        return os.getpgid(pid)
    except ProcessLookupError:
        return 0


def open_descriptors() -> int:
    """How many descriptors this process holds."""
    return len(os.listdir("/proc/self/fd"))  # noqa: PTH208 - only the number
