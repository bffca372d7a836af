"""`claw-acp providers test`, `providers list` with its filters, and `models`, on real servers on loopback."""

import json
import subprocess
from collections.abc import Generator
from pathlib import Path

import pytest

from tests.cli.support import claw
from tests.support.servers.loopback import serving
from tests.support.servers.model_replies import Call, failure
from tests.support.servers.model_server import ModelServer, refusing_address, running_model_server
from tests.support.servers.ollama_server import OllamaServer, shown

WORK = '[providers.work]\nkind = "openai"\nbase_url = "{url}"\napi_key = "k-hush-0123456789"\nmodels = ["small"]\n'


@pytest.fixture
def server() -> Generator[ModelServer]:
    with running_model_server() as server:
        yield server


@pytest.fixture
def ollama() -> Generator[OllamaServer]:
    server = OllamaServer({"qwen3": shown("completion", "tools", window=40_960)})
    with serving(server):
        yield server


def at(home: Path, url: str) -> None:
    claw_home = home / ".claw-home"
    claw_home.mkdir(mode=0o700, exist_ok=True)
    (claw_home / "config.toml").write_text(WORK.format(url=url))


def run(home: Path, *arguments: str, **environ: str) -> subprocess.CompletedProcess[str]:
    return claw(*arguments, home=home, environ={"CLAW_ACP_HOME": str(home / ".claw-home"), **environ})


def checks_of(done: subprocess.CompletedProcess[str]) -> dict[str, dict[str, str]]:
    return {check["subject"]: check for check in json.loads(done.stdout)["checks"]}


def test_a_provider_that_works_is_described(server: ModelServer, tmp_path: Path) -> None:
    at(tmp_path, server.openai_url)
    server.will_say("po", "ng")
    server.will_say(calls=[Call(name="note", arguments='{"text": "pong"}', id="call_1")])
    done = run(tmp_path, "providers", "test", "work", "--json")
    assert done.returncode == 0, done
    checks = checks_of(done)
    assert list(checks) == ["address", "key", "answer", "tools", "images", "window"]
    assert "work/small says 'pong': arrived in 2 reads, first after" in checks["answer"]["detail"]
    assert "tokens in" in checks["answer"]["detail"]
    assert checks["tools"]["detail"] == "called natively"
    assert "hush" not in done.stdout + done.stderr


def test_a_model_that_calls_no_tool_is_a_warning(server: ModelServer, tmp_path: Path) -> None:
    at(tmp_path, server.openai_url)
    server.will_say("pong")
    server.will_say("I would rather not.")
    done = run(tmp_path, "providers", "test", "work", "--json")
    assert done.returncode == 0
    assert checks_of(done)["tools"]["level"] == "warn"


def test_tools_that_the_service_does_not_know_are_given_in_words(server: ModelServer, tmp_path: Path) -> None:
    at(tmp_path, server.openai_url)
    server.will_say("pong")
    server.will_reply(failure(400, {"error": {"message": "this model does not support tools"}}))
    server.will_say('<tool_call>{"name": "note", "arguments": {"text": "pong"}}</tool_call>')
    done = run(tmp_path, "providers", "test", "work", "--json")
    assert checks_of(done)["tools"]["detail"] == "called as text, since the model has no native tools"


def test_a_key_that_is_refused_says_what_to_do(server: ModelServer, tmp_path: Path) -> None:
    at(tmp_path, server.openai_url)
    server.serves_only("another")
    done = run(tmp_path, "providers", "test", "work")
    assert done.returncode == 1
    assert "fail  key" in done.stdout
    assert "-> run `claw-acp login work` with a key that is valid" in done.stdout
    assert "hush" not in done.stdout + done.stderr


def test_an_address_where_nobody_listens_is_not_reached(tmp_path: Path) -> None:
    with refusing_address() as url:
        at(tmp_path, url)
        done = run(tmp_path, "providers", "test", "work", "--json")
    assert done.returncode == 1
    assert "no connection" in checks_of(done)["reached"]["detail"]


def test_a_provider_that_does_not_exist_is_named_with_the_nearest(tmp_path: Path) -> None:
    done = run(tmp_path, "providers", "test", "gorq")
    assert (done.returncode, done.stdout) == (1, "")
    assert 'there is no provider "gorq"; did you mean "groq"?' in done.stderr


def test_a_provider_without_a_key_says_which_variable_to_set(tmp_path: Path) -> None:
    done = run(tmp_path, "providers", "test", "xai")
    assert done.returncode == 1
    assert "set the environment variable XAI_API_KEY" in done.stdout


def test_a_server_on_this_machine_is_listed_and_tried_without_configuration(
    ollama: OllamaServer, tmp_path: Path
) -> None:
    place = {"CLAW_ACP_LOCAL_SERVERS": f"ollama={ollama.url}"}
    listed = json.loads(run(tmp_path, "providers", "list", "--local", "--ready", "--json", **place).stdout)
    assert [(state["name"], state["models"]) for state in listed["providers"]] == [("ollama", ["qwen3"])]
    assert listed["chosen"] == "ollama/qwen3"
    ollama.will_say("pong")
    ollama.will_say(calls=[Call(name="note", arguments='{"text": "pong"}', id="")])
    done = run(tmp_path, "providers", "test", "ollama", "--json", **place)
    assert done.returncode == 0, done
    assert "ollama/qwen3 says 'pong'" in checks_of(done)["answer"]["detail"]
    doctor = run(tmp_path, "doctor", **place)
    assert f"ollama at {ollama.url} (1 model)" in doctor.stdout


def test_the_list_can_be_narrowed(tmp_path: Path) -> None:
    whole = json.loads(run(tmp_path, "providers", "list", "--json").stdout)["providers"]
    assert len(whole) > 80
    kimi = json.loads(run(tmp_path, "providers", "list", "kimi", "--json").stdout)["providers"]
    assert {state["name"] for state in kimi} == {"moonshot", "moonshot-cn", "kimi-code"}
    ready = run(tmp_path, "providers", "list", "--ready", GROQ_API_KEY="gsk_hush")
    assert "groq" in ready.stdout
    assert "key: GROQ_API_KEY" in ready.stdout
    assert "hush" not in ready.stdout


def test_the_models_of_a_provider_are_asked_for(server: ModelServer, tmp_path: Path) -> None:
    at(tmp_path, server.openai_url)
    done = run(tmp_path, "models", "work", "--json")
    assert [model["id"] for model in json.loads(done.stdout)] == ["test-model", "other-model"]
    assert run(tmp_path, "models", "work").stdout.splitlines()[0].startswith("work/test-model")
    assert "offline/assistant" in run(tmp_path, "models").stdout
