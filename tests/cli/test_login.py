"""`claw-acp login` and `logout` as a person uses them, before a service that knows its keys."""

import json
import os
import subprocess
import tomllib
from collections.abc import Generator, Mapping
from pathlib import Path

import pytest

from claw_acp.providers.registry.service import OPENAI
from tests.support.editors.terminal import at_terminal
from tests.support.file_keyring import NO_KEYRING, keyring_environment
from tests.support.program.processes import run_program
from tests.support.quiet import QUIET
from tests.support.servers.model_replies import Raw, failure
from tests.support.servers.model_server import WRONG_KEY, ModelServer, refusing_address, running_model_server

KEY = "sk-right-0123456789abcdef"
WRONG = "sk-wrong-0123456789abcdef"
PLAIN = ("--store", "plain")
KEPT = ("PATH", "PYTHONPATH", "VIRTUAL_ENV", "LANG")


@pytest.fixture(scope="module")
def running() -> Generator[ModelServer]:
    with running_model_server() as server:
        yield server


@pytest.fixture
def server(running: ModelServer) -> ModelServer:
    running.requests.clear()
    running.serves_only(KEY)
    return running


@pytest.fixture
def environ(tmp_path: Path, server: ModelServer) -> dict[str, str]:
    """A machine without a keyring, where both vendors are the test's own service."""
    kept = {name: os.environ[name] for name in KEPT if name in os.environ}
    addresses = {"ANTHROPIC_BASE_URL": server.anthropic_url, "OPENAI_BASE_URL": server.openai_url}
    return {**kept, **QUIET, **addresses, **NO_KEYRING, "HOME": str(tmp_path), "CLAW_ACP_HOME": str(tmp_path / "claw")}


def run(*arguments: str, environ: Mapping[str, str], stdin: str = "") -> "subprocess.CompletedProcess[str]":
    return run_program(*arguments, cwd=Path.cwd(), env=environ, text=stdin)


def kept(home: Path) -> dict[str, dict[str, object]]:
    file = home / "claw" / "credentials.toml"
    return tomllib.loads(file.read_text()) if file.exists() else {}


def test_a_person_chooses_a_provider_and_enters_its_key(environ: dict[str, str], tmp_path: Path) -> None:
    with at_terminal("login", environ=environ, cwd=tmp_path) as terminal:
        terminal.wait_for("anthropic")
        terminal.wait_for("openai")
        terminal.wait_for("Number or name [1]: ")
        terminal.type("nobody\n")
        terminal.wait_for("There is no 'nobody' in the list.")
        terminal.type("2\n")
        terminal.wait_for("Key for openai (it is not shown")
        terminal.type(f"{KEY}\n")
        terminal.wait_for("It works. Models: other-model, test-model.")
        terminal.wait_for("No keyring of the system works here.")
        terminal.wait_for("whoever has the disk or a backup has the key")
        terminal.type("2\n")
        terminal.wait_for(f"Kept unencrypted in {tmp_path}/claw/credentials.toml, which only you can read.")
        terminal.wait_for("New sessions use openai/other-model.")
        assert terminal.ended() == 0
    assert KEY not in terminal.printed
    assert kept(tmp_path) == {"openai": {"key": KEY}}
    listed = json.loads(run("providers", "list", "--json", environ=environ).stdout)
    assert listed["chosen"] == "openai/other-model"  # not the one that calls itself a test
    assert [row["key_source"] for row in listed["providers"] if row["name"] == "openai"] == [
        f"login ({tmp_path}/claw/credentials.toml:3)"
    ]


def test_a_wrong_key_is_told_in_the_vendors_words_and_asked_for_again(environ: dict[str, str], tmp_path: Path) -> None:
    with at_terminal("login", "anthropic", *PLAIN, environ=environ, cwd=tmp_path) as terminal:
        terminal.wait_for("Key for anthropic")
        terminal.type(f"{WRONG}\n")
        terminal.wait_for(WRONG_KEY)
        assert kept(tmp_path) == {}
        terminal.wait_for("Key for anthropic")
        terminal.type(f"{KEY}\n")
        terminal.wait_for("It works.")
        assert terminal.ended() == 0
    assert kept(tmp_path) == {"anthropic": {"key": KEY}}
    assert WRONG not in terminal.printed


@pytest.mark.parametrize("keys", ["\x03", "\x04"], ids=["Ctrl-C", "end of input"])
@pytest.mark.parametrize("question", ["Number or name", "Key for"])
def test_whoever_leaves_in_the_middle_keeps_nothing(
    environ: dict[str, str], tmp_path: Path, keys: str, question: str
) -> None:
    with at_terminal(*["login", *(["openai"] if question == "Key for" else [])], environ=environ, cwd=tmp_path) as it:
        it.wait_for(question)
        it.press(keys, until="Nothing was kept.")
        assert it.ended() == 1
    assert kept(tmp_path) == {}


def test_a_service_that_cannot_be_reached_leaves_the_choice_to_the_person(
    environ: dict[str, str], tmp_path: Path
) -> None:
    with refusing_address() as nowhere:
        environ["OPENAI_BASE_URL"] = nowhere
        with at_terminal("login", "openai", *PLAIN, environ=environ, cwd=tmp_path) as terminal:
            terminal.wait_for("Key for openai")
            terminal.type(f"{KEY}\n")
            terminal.wait_for("no connection to")
            terminal.wait_for("Keep it anyway? [y/N]")
            terminal.type("n\n")
            terminal.wait_for("no connection to")
            assert terminal.ended() == 1
        assert kept(tmp_path) == {}
        with at_terminal("login", "openai", *PLAIN, environ=environ, cwd=tmp_path) as terminal:
            terminal.wait_for("Key for openai")
            terminal.type(f"{KEY}\n")
            terminal.wait_for("Keep it anyway? [y/N]")
            terminal.type("y\n")
            assert terminal.ended() == 0
    assert kept(tmp_path) == {"openai": {"key": KEY}}


def test_a_service_of_ones_own_is_described_by_answering(
    environ: dict[str, str], tmp_path: Path, server: ModelServer
) -> None:
    with at_terminal("login", *PLAIN, environ=environ, cwd=tmp_path) as terminal:
        terminal.wait_for("Number or name")
        terminal.type("+\n")
        terminal.wait_for("A name for it")
        terminal.type("a/b\n")
        terminal.wait_for("A name is made of")
        terminal.type("work\n")
        terminal.wait_for("The API it speaks")
        terminal.type("\n")
        terminal.wait_for("Its address")
        terminal.type("localhost\n")
        terminal.wait_for("'localhost' is no address")
        terminal.type(f"{server.openai_url}/\n")
        terminal.wait_for("Key for work (it is not shown, or nothing if it needs none)")
        terminal.type(f"{KEY}\n")
        terminal.wait_for("It works.")
        terminal.wait_for("New sessions use work/test-model.")
        assert terminal.ended() == 0
    assert kept(tmp_path) == {
        "work": {
            "kind": "openai",
            "base_url": server.openai_url,
            "models": ["test-model", "other-model"],
            "key": KEY,
        }
    }


def test_a_key_can_be_piped_in(environ: dict[str, str], tmp_path: Path) -> None:
    done = run("login", "openai", "--key-stdin", *PLAIN, environ=environ, stdin=f"{KEY}\n")
    assert (done.returncode, done.stderr) == (0, "")
    assert kept(tmp_path) == {"openai": {"key": KEY}}
    wrong = run("login", "openai", "--key-stdin", *PLAIN, environ=environ, stdin=WRONG)
    assert wrong.returncode == 1
    assert WRONG_KEY in wrong.stderr
    assert WRONG not in wrong.stderr + wrong.stdout
    assert kept(tmp_path) == {"openai": {"key": KEY}}
    assert (
        run("login", "openai", "--key-stdin", *PLAIN, environ=environ).stderr == "claw-acp login: stdin holds no key\n"
    )


def test_without_a_terminal_it_says_what_to_do(environ: dict[str, str], tmp_path: Path) -> None:
    done = run("login", "openai", environ=environ, stdin=KEY)
    assert (done.returncode, done.stdout) == (2, "")
    assert "claw-acp login openai --key-stdin < FILE" in done.stderr
    assert kept(tmp_path) == {}


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["nobody"], 'there is no provider "nobody" that takes a key; `claw-acp providers list` shows them'),
        (["offline"], 'there is no provider "offline" that takes a key'),
        (["work", "--base-url", "ftp://x"], "'ftp://x' is no address"),
        (["../x", "--base-url", "http://127.0.0.1:1"], "'../x' is no name for a provider"),
    ],
)
def test_what_cannot_be_logged_in_to_is_named(
    arguments: list[str], said: str, environ: dict[str, str], tmp_path: Path
) -> None:
    done = run("login", *arguments, "--key-stdin", *PLAIN, "--untried", environ=environ, stdin=KEY)
    assert done.returncode == 1, done.stdout
    assert said in done.stderr
    assert kept(tmp_path) == {}


def test_a_key_of_another_vendor_is_not_even_tried(environ: dict[str, str], server: ModelServer) -> None:
    del environ["ANTHROPIC_BASE_URL"]
    done = run("login", "anthropic", "--key-stdin", *PLAIN, environ=environ, stdin="sk-proj-abc")
    assert done.returncode == 1
    assert "looks like a key of OpenAI" in done.stderr
    assert server.requests == []


def test_a_service_of_ones_own_may_list_its_models_to_everybody(
    environ: dict[str, str], tmp_path: Path, server: ModelServer
) -> None:
    server.serves_only()
    server.always(failure(401, {"error": {"message": WRONG_KEY}}))
    arguments = ("login", "work", "--base-url", server.openai_url, "--key-stdin", *PLAIN)
    refused = run(*arguments, environ=environ, stdin=WRONG)
    assert (refused.returncode, WRONG_KEY in refused.stderr) == (1, True)
    server.always(failure(500, {"error": {"message": "busy"}}))
    done = run(*arguments, environ=environ, stdin=KEY)
    assert done.returncode == 0
    assert "The service answers, with any key. Models: test-model" in done.stdout


def test_a_service_that_lists_nothing_is_asked_for_a_word(
    environ: dict[str, str], tmp_path: Path, server: ModelServer
) -> None:
    server.always_lists(failure(404, {"error": {"message": "no such page"}}))
    try:
        server.will_say("Hi")
        done = run("login", "openai", "--key-stdin", *PLAIN, environ=environ, stdin=KEY)
    finally:
        server.always_lists(Raw())
        server._listing = None  # pyright: ignore[reportPrivateUsage]
    assert f"It works. Models: {OPENAI.roles[0].last_resort}" in done.stdout
    assert server.requests[-1].method == "POST"


def test_a_keyring_keeps_the_key_where_there_is_one(environ: dict[str, str], tmp_path: Path) -> None:
    safe = tmp_path / "keyring.json"
    environ |= keyring_environment(safe)
    done = run("login", "openai", "--key-stdin", environ=environ, stdin=KEY)
    assert "Kept in the system keyring (file keyring FileKeyring)." in done.stdout, done
    assert KEY in safe.read_text()
    assert KEY not in (tmp_path / "claw" / "credentials.toml").read_text()
    listed = run("providers", "list", environ=environ).stdout
    assert "key: login (the system keyring)" in listed
    assert run("logout", environ=environ).stdout == "Removed: openai.\n"
    assert json.loads(safe.read_text()) == {}


def test_a_variable_that_comes_first_is_told_of(environ: dict[str, str]) -> None:
    environ["OPENAI_API_KEY"] = "sk-other"
    done = run("login", "openai", "--key-stdin", *PLAIN, environ=environ, stdin=KEY)
    assert "Note: the key from OPENAI_API_KEY is there too, and comes first." in done.stdout
    assert run("logout", environ=environ).stdout == (
        "Removed: openai.\nNot removed: the key of openai from OPENAI_API_KEY.\n"
    )


def test_logging_out_forgets_one_or_all(environ: dict[str, str], tmp_path: Path) -> None:
    nothing = run("logout", environ=environ)
    assert (nothing.returncode, nothing.stderr) == (1, "You are not logged in.\n")
    for name in ("openai", "anthropic"):
        assert run("login", name, "--key-stdin", *PLAIN, environ=environ, stdin=KEY).returncode == 0
    which = run("logout", environ=environ)
    assert (which.returncode, which.stderr) == (
        2,
        "You are logged in to openai, anthropic: name one, or use --all.\n",
    )
    assert run("logout", "openai", environ=environ).stdout == "Removed: openai.\n"
    again = run("logout", "openai", environ=environ)
    assert (again.returncode, again.stderr) == (1, "You are not logged in to openai.\n")
    assert kept(tmp_path) == {"anthropic": {"key": KEY}}
    assert run("logout", "--all", environ=environ).stdout == "Removed: anthropic.\n"
    assert kept(tmp_path) == {}


def test_a_file_that_others_can_read_is_told_everywhere_and_can_be_removed(
    environ: dict[str, str], tmp_path: Path
) -> None:
    run("login", "openai", "--key-stdin", *PLAIN, environ=environ, stdin=KEY)
    file = tmp_path / "claw" / "credentials.toml"
    file.chmod(0o644)
    doctor = run("doctor", environ=environ)
    assert doctor.returncode == 1
    assert "can be read by others, so its keys are not used" in doctor.stdout
    assert "can be read by others" in run("login", "openai", "--key-stdin", *PLAIN, environ=environ, stdin=KEY).stderr
    assert "`claw-acp logout --all` removes it" in run("logout", environ=environ).stderr
    assert run("logout", "--all", environ=environ).returncode == 0
    assert not file.exists()


@pytest.mark.parametrize("command", [["doctor"], ["config", "show"], ["providers", "list"], ["doctor", "--json"]])
def test_no_command_shows_a_key_that_was_kept(environ: dict[str, str], command: list[str]) -> None:
    run("login", "openai", "--key-stdin", *PLAIN, environ=environ, stdin=KEY)
    done = run(*command, environ=environ)
    assert KEY not in done.stdout + done.stderr
    assert "login" in done.stdout


def test_where_there_is_no_keyring_nothing_is_kept_before_somebody_says_how(
    environ: dict[str, str], tmp_path: Path
) -> None:
    done = run("login", "openai", "--key-stdin", environ=environ, stdin=KEY)
    assert (done.returncode, kept(tmp_path)) == (1, {})
    assert "--store encrypted, with the passphrase in CLAW_ACP_PASSPHRASE, or --store plain" in done.stderr


def test_a_key_is_kept_encrypted_used_moved_and_removed(
    environ: dict[str, str], tmp_path: Path, server: ModelServer
) -> None:
    with at_terminal("login", "openai", environ=environ, cwd=tmp_path) as terminal:
        terminal.wait_for("Key for openai")
        terminal.type(f"{KEY}\n")
        terminal.wait_for("Number: ")
        terminal.type("1\n")
        for question, answer in (
            ("Passphrase (it is not shown): ", "short"),
            ("8 characters at least.\r\nPassphrase (it is not shown): ", "right horse"),
            ("The same again: ", "wrong"),
            ("These two differ.\r\nPassphrase (it is not shown): ", "right horse"),
            ("The same again: ", "right horse"),
        ):
            terminal.wait_for(question)
            terminal.type(f"{answer}\n")
        terminal.wait_for(f"Kept encrypted in {tmp_path}/claw/credentials.toml; agents find the passphrase in")
        assert terminal.ended() == 0
    assert KEY not in (tmp_path / "claw" / "credentials.toml").read_text()
    assert "horse" not in terminal.printed
    tried = run("providers", "test", "openai", environ=environ)
    assert "CLAW_ACP_PASSPHRASE is not set" in tried.stdout + tried.stderr
    tried = run("providers", "test", "openai", environ={**environ, "CLAW_ACP_PASSPHRASE": "wrong horse"})
    assert "does not open the encrypted key" in tried.stdout + tried.stderr
    (tmp_path / "phrase").write_text("right horse\n")
    environ["CLAW_ACP_PASSPHRASE"] = f"file:{tmp_path}/phrase"
    server.will_say("Hi")
    assert run("providers", "test", "openai", environ=environ).returncode == 0
    assert "openai  encrypted in" in run("login", "--list", environ=environ).stdout
    assert run("login", "--move", "plain", environ=environ).returncode == 0
    assert kept(tmp_path) == {"openai": {"key": KEY}}
    assert "Unencrypted: 1 key;" in run("login", "--list", environ=environ).stdout
    assert run("login", "--move", "encrypted", environ=environ).returncode == 0
    assert KEY not in (tmp_path / "claw" / "credentials.toml").read_text()
    assert run("login", "--remove", "openai", environ=environ).stdout == "Removed: openai.\n"
    assert run("login", "--list", environ=environ).stdout == "You are not logged in.\n"


def test_keys_move_into_a_keyring_and_out_of_it(environ: dict[str, str], tmp_path: Path) -> None:
    run("login", "openai", "--key-stdin", *PLAIN, environ=environ, stdin=KEY)
    safe = tmp_path / "keyring.json"
    environ |= keyring_environment(safe)
    assert run("login", "--move", "keyring", environ=environ).returncode == 0
    assert (KEY in safe.read_text(), "key" in kept(tmp_path)["openai"]) == (True, False)
    locked = run("login", "--move", "plain", environ=environ | keyring_environment(safe, mood="locked"))
    assert (locked.returncode, "Unlock it" in locked.stderr) == (1, True)
    assert run("login", "--move", "plain", environ=environ).returncode == 0
    assert (json.loads(safe.read_text()), kept(tmp_path)) == ({}, {"openai": {"key": KEY}})
