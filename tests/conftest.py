"""What every test gets: anyio on asyncio, a home of its own, no keys, and no network but loopback."""

import gc
import itertools
import os
import signal
import socket
from collections.abc import Iterator
from pathlib import Path
from types import FrameType

import pytest
from hypothesis import settings

from tests.support.program import placement
from tests.support.quiet import QUIET

# The same examples on every run and on slow machines; HYPOTHESIS_PROFILE=explore looks for new ones.
settings.register_profile("suite", deadline=None, derandomize=True, database=None)
settings.register_profile("explore", deadline=None, database=None, max_examples=5000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "suite"))

OURS = ("CLAW_ACP_", "OPENAI_", "ANTHROPIC_")


def _ignore(number: int, frame: FrameType | None) -> None:
    pass


for _number in (signal.SIGINT, signal.SIGHUP, signal.SIGQUIT):
    if signal.getsignal(_number) is signal.SIG_IGN:  # by nohup or `&`: programs under test must not inherit that
        signal.signal(_number, _ignore)


def pytest_addoption(parser: pytest.Parser) -> None:
    placement.add_option(parser)


gc.disable()  # until everything is collected: ten thousand tests stay, and looking through them costs a second or two


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    placement.select(config, items)
    items.sort(key=lambda item: item.get_closest_marker("timeout") is None)  # what takes long must not come last


@pytest.hookimpl(trylast=True)
def pytest_collection_finish() -> None:
    gc.freeze()
    gc.enable()


def pytest_xdist_auto_num_workers() -> int:
    """Two for each core: half of the time a test waits, for a process, a socket or a bound that it is about."""
    return 2 * (os.cpu_count() or 1)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    placement.place(item)


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="session")
def _homes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:  # pyright: ignore[reportUnusedFunction]
    """New directories. `mktemp` would look through all of the earlier ones for each."""
    folder = tmp_path_factory.mktemp("homes")
    return (folder / str(number) for number in itertools.count())


@pytest.fixture(autouse=True)
def _own_home(_homes: Iterator[Path], monkeypatch: pytest.MonkeyPatch) -> None:  # pyright: ignore[reportUnusedFunction]
    for name in list(os.environ):
        if name.startswith(OURS) or name == "API_KEY":
            monkeypatch.delenv(name)
    home = next(_homes)
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("CLAW_ACP_HOME", str(home / "claw"))
    for name, value in QUIET.items():
        monkeypatch.setenv(name, value)


@pytest.fixture(autouse=True)
def _loopback_only(monkeypatch: pytest.MonkeyPatch) -> None:  # pyright: ignore[reportUnusedFunction]
    connect = socket.socket.connect

    def guarded(self: socket.socket, address: object) -> None:
        if isinstance(address, tuple) and address[0] not in {"127.0.0.1", "::1", "localhost"}:
            raise AssertionError(f"a test reached for the network: {address}")
        connect(self, address)  # type: ignore[arg-type]

    monkeypatch.setattr(socket.socket, "connect", guarded)


@pytest.fixture(autouse=True, scope="session")
def _time_to_close() -> Iterator[None]:
    """Let a database be closed however busy the disk is: only a process of its own has to end within seconds."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("claw_acp.store.database._CLOSE_LIMIT", 30.0)
        yield
