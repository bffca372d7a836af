"""Keys that take time to get: from commands and keyrings."""

import os
import threading
from pathlib import Path

import keyring
import pytest

from claw_acp.config import secret_cache
from claw_acp.config.key_reference import KeyReference
from claw_acp.config.secret_cache import COMMAND_FRESH, SecretCache
from claw_acp.core.errors import ConfigError
from claw_acp.core.secret import Secret
from tests.support.file_keyring import FileKeyring
from tests.support.fixed_clock import FixedClock


def command(line: str) -> KeyReference:
    return KeyReference.parse(f"command:{line}")


def test_the_first_line_that_a_command_prints_is_the_key() -> None:
    cache = SecretCache()
    secret = cache.fetch(command("printf '  sk-1 \\nnot this\\n'"), os.environ)
    assert secret == Secret("sk-1")


def test_a_command_runs_once_while_its_key_is_fresh(tmp_path: Path) -> None:
    clock = FixedClock()
    cache = SecretCache(clock=clock)
    reference = command(f"sh -c 'echo x >> {tmp_path}/runs; wc -l < {tmp_path}/runs'")
    assert [cache.fetch(reference, os.environ).reveal() for _ in range(2)] == ["1", "1"]
    clock.seconds += COMMAND_FRESH + 1
    assert reference not in cache.known
    assert cache.fetch(reference, os.environ).reveal() == "2"
    cache.clear()
    assert cache.fetch(reference, os.environ).reveal() == "3"


def test_a_command_is_run_without_a_shell(tmp_path: Path) -> None:
    cache = SecretCache()
    assert cache.fetch(command(f"echo $(touch {tmp_path}/made)"), os.environ).reveal().startswith("$(touch")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("sh -c 'echo locked >&2; exit 3'", "failed with exit code 3: locked"),
        ("sh -c 'echo sk-proj-a1B2c3D4e5F6g7H8i9J0k1L2 >&2; exit 3'", "sk-p\\[redacted\\]"),
        ("false", "it said nothing"),
        ("true", "printed nothing"),
        ("no-such-program-here", "cannot be started: No such file"),
        ("echo 'open", "cannot be started: No closing quotation"),
    ],
)
def test_a_command_that_gives_no_key_says_why(line: str, said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        SecretCache().fetch(command(line), os.environ)


def test_all_who_ask_at_once_share_one_command(tmp_path: Path) -> None:
    os.mkfifo(gate := tmp_path / "gate")
    cache = SecretCache()
    reference = command(f"sh -c 'echo x >> {tmp_path}/runs; read go < {gate}; echo sk-1'")
    got: list[str] = []
    threads = [
        threading.Thread(target=lambda: got.append(cache.fetch(reference, os.environ).reveal())) for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    gate.write_text("go\n")
    for thread in threads:
        thread.join()
    assert got == ["sk-1"] * 4
    assert (tmp_path / "runs").read_text() == "x\n"


def test_closing_the_cache_ends_a_command(tmp_path: Path) -> None:
    os.mkfifo(gate := tmp_path / "gate")
    cache = SecretCache()
    raised: list[str] = []

    def ask() -> None:
        try:
            cache.fetch(command(f"sh -c 'echo > {gate}; sleep 1000'"), os.environ)
        except ConfigError as error:
            raised.append(error.message)

    thread = threading.Thread(target=ask)
    thread.start()
    gate.read_text()
    cache.close()
    thread.join()
    assert "failed with exit code -9" in raised[0]


def test_a_keyring_without_the_entry_says_how_to_add_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KEYRING_FILE", str(tmp_path / "keyring.json"))
    keyring.set_keyring(FileKeyring())
    with pytest.raises(ConfigError, match='holds no key "mine"; add it with `keyring set claw-acp mine`'):
        SecretCache().fetch(KeyReference.parse("keyring: mine"), {})
    keyring.set_password("claw-acp", "mine", "sk-1")
    assert SecretCache().fetch(KeyReference.parse("keyring:mine"), {}) == Secret("sk-1")


def test_a_keyring_that_does_not_answer_is_told_within_its_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KEYRING_MOOD", "hangs")
    monkeypatch.setattr(secret_cache, "KEYRING_TIMEOUT", 0.05)
    keyring.set_keyring(FileKeyring())
    cache = SecretCache()
    for _ in range(2):
        with pytest.raises(ConfigError, match=r"keyring:mine gave no key within 0\.05 s; perhaps a dialog waits"):
            cache.fetch(KeyReference.parse("keyring:mine"), {})
