"""Model servers on this machine: what counts as one, where they are looked for, and what is left alone."""

import json
import socket
from collections.abc import Generator
from pathlib import Path

import pytest

from claw_acp.config.load import load_settings
from claw_acp.config.locations import find_locations
from claw_acp.config.server_places import local_address, named_places
from claw_acp.config.settings import Settings
from claw_acp.core.errors import ConfigError
from claw_acp.core.value import replace
from claw_acp.net.loopback_get import ANSWER_LIMIT, get
from claw_acp.providers.registry.local_servers import find_servers, server_addresses
from claw_acp.providers.registry.overview import provider_states
from claw_acp.providers.registry.profiles import provider_profiles
from claw_acp.providers.registry.service_table import ASIA, GATEWAYS, LOCAL, VENDORS
from claw_acp.providers.registry.services import SERVICES
from claw_acp.providers.selection.available_models import available_models, usable
from claw_acp.providers.selection.resolve import resolve
from tests.support.servers.loopback import Answered, Asked, Loopback, serving

OLLAMA = {
    "models": [
        {
            "name": "deepseek-r1:latest",
            "model": "deepseek-r1:latest",
            "modified_at": "2025-05-10T08:06:48.639712648-07:00",
            "size": 4683075271,
            "digest": "0a8c266910232fd3291e71e5ba1e058cc5af9d411192cf88b6d30e92b6e73163",
            "details": {"parent_model": "", "format": "gguf", "family": "qwen2", "parameter_size": "7.6B"},
        },
        {"name": "nomic-embed-text:latest", "model": "nomic-embed-text:latest"},
    ]
}
VLLM = {
    "object": "list",
    "data": [{"id": "org/qwen3", "object": "model", "created": 1, "owned_by": "vllm", "max_model_len": 32768}],
}
LLAMACPP = {
    "object": "list",
    "models": [{"name": "../models/x.gguf"}],
    "data": [{"id": "../models/x.gguf", "object": "model", "owned_by": "llamacpp", "meta": {"n_ctx_train": 131072}}],
}


class Desk:
    """A server whose answer a test sets, and settings that look for it under a name."""

    def __init__(self, web: Loopback, home: Path) -> None:
        self.web = web
        self._home = home
        self.body: bytes = b"{}"
        self.status = 200
        self.lock = ""
        self.refusal = b'{"error": {"message": "no key"}}'

    def answer(self, asked: Asked) -> Answered:
        if self.lock and asked.headers.get("authorization") != self.lock:
            return Answered([self.refusal], 401)
        return Answered([self.body], self.status)

    def settings(self, name: str, config: str = "", **environ: str) -> Settings:
        (self._home / "config.toml").write_text(config)
        places = {"CLAW_ACP_LOCAL_SERVERS": f"{name}={self.web.url.removeprefix('http://')}"}
        locations = find_locations({"CLAW_ACP_HOME": str(self._home)})
        settings = load_settings(locations=locations, environ=places | environ, cwd=None)
        assert settings.diagnostics == ()
        return settings


@pytest.fixture
def desk(tmp_path: Path) -> Generator[Desk]:
    def answer(asked: Asked) -> Answered:
        return desk.answer(asked)

    web = Loopback(answer)
    desk = Desk(web, tmp_path)
    with serving(web):
        yield desk


async def test_ollama_is_known_by_its_tags_and_models_that_cannot_talk_are_left_out(desk: Desk) -> None:
    """https://docs.ollama.com/api/tags"""
    desk.body = json.dumps(OLLAMA).encode()
    found = await find_servers(desk.settings("ollama"))
    assert [asked.path for asked in desk.web.asked] == ["/api/tags"]
    assert (found["ollama"].base_url, [model.id for model in found["ollama"].models]) == (
        desk.web.url,
        ["deepseek-r1:latest"],
    )


@pytest.mark.parametrize(("name", "listed", "window"), [("vllm", VLLM, 32_768), ("llamacpp", LLAMACPP, 131_072)])
async def test_other_servers_are_known_by_the_list_that_openai_has(
    name: str, listed: object, window: int, desk: Desk
) -> None:
    """https://docs.vllm.ai/en/latest/serving/openai_compatible_server.html and llama.cpp's tools/server/README.md"""
    desk.body = json.dumps(listed).encode()
    found = await find_servers(desk.settings(name))
    assert desk.web.asked[0].path == "/v1/models"
    assert [model.context_window for model in found[name].models] == [window]


@pytest.mark.parametrize(
    ("status", "body"),
    [
        (200, b"<html>It works</html>"),
        (200, b"{}"),
        (200, b"[]"),
        (200, b'{"data": []}'),
        (200, b'{"object": "list", "data": [{"name": "no id"}]}'),
        (200, b'{"object": "list", "data": "no list"}'),
        (200, b"[" * 100_000),
        (200, b"x" * (ANSWER_LIMIT + 1)),
        (404, json.dumps(VLLM).encode()),
        (401, b"<html>Jenkins</html>"),
    ],
    ids=["page", "empty", "array", "nameless", "no-ids", "no-list", "deep", "long", "missing", "locked-page"],
)
async def test_whatever_else_listens_there_is_no_model_server(status: int, body: bytes, desk: Desk) -> None:
    desk.status, desk.body = status, body
    assert await find_servers(desk.settings("vllm")) == {}


async def test_where_nobody_listens_nothing_is_found(tmp_path: Path) -> None:
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        environ = {"CLAW_ACP_LOCAL_SERVERS": f"vllm=127.0.0.1:{bound.getsockname()[1]}"}
        locations = find_locations({"CLAW_ACP_HOME": str(tmp_path)})
        assert await find_servers(load_settings(locations=locations, environ=environ, cwd=None)) == {}


async def test_what_does_not_speak_http_is_no_answer(desk: Desk) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        url = f"http://127.0.0.1:{listening.getsockname()[1]}/"
        listening.close()
        assert await get(url) is None


async def test_a_server_that_wants_a_key_is_shown_and_not_chosen(desk: Desk) -> None:
    desk.status, desk.body = 401, b'{"error": {"message": "no key"}}'
    settings = desk.settings("litellm")
    found = await find_servers(settings)
    settings = replace(settings, discovered=replace(settings.discovered, servers=found))
    (state,) = [state for state in provider_states(settings) if state.name == "litellm"]
    assert (state.ready, state.problem) == (False, "it needs a key; set LITELLM_API_KEY")
    assert resolve(settings, model=None).name == "offline/assistant"


async def test_no_key_is_shown_to_what_does_not_ask_for_one_as_a_model_server_does(desk: Desk) -> None:
    for status, body in [
        (404, b""),
        (200, b"{}"),
        (401, b"<html>Jenkins</html>"),
        (401, b"{}"),
        (403, b'{"error": {}}'),
    ]:
        desk.status, desk.body = status, body
        assert await find_servers(desk.settings("litellm", LITELLM_API_KEY="k-1")) == {}
    assert [asked.headers.get("authorization") for asked in desk.web.asked] == [None] * 5


@pytest.mark.parametrize("refusal", [b'{"error": "Unauthorized"}', b'{"error": {"message": "no key"}}'])
async def test_the_key_of_a_server_is_shown_to_it_once_it_asks(refusal: bytes, desk: Desk) -> None:
    """vLLM's refusal is a text, llama.cpp's and LiteLLM's an object."""
    desk.body = json.dumps(VLLM).encode()
    desk.lock, desk.refusal = "Bearer k-1", refusal
    found = await find_servers(desk.settings("litellm", LITELLM_API_KEY="k-1", OPENAI_API_KEY="sk-not-this"))
    assert [asked.headers.get("authorization") for asked in desk.web.asked] == [None, "Bearer k-1"]
    assert (found["litellm"].locked, [model.id for model in found["litellm"].models]) == (False, ["org/qwen3"])


async def test_a_key_that_a_server_refuses_does_not_make_it_usable(desk: Desk) -> None:
    desk.lock = "Bearer another"
    settings = desk.settings("litellm", LITELLM_API_KEY="k-1")
    settings = replace(settings, discovered=replace(settings.discovered, servers=await find_servers(settings)))
    assert settings.discovered.servers["litellm"].locked
    assert [profile.name for profile in usable(settings)] == ["offline"]


@pytest.mark.parametrize("service", [row[0].partition(" ")[0] for row in LOCAL])
def test_a_key_alone_makes_no_local_server_usable(service: str, desk: Desk) -> None:
    keys = dict.fromkeys(SERVICES[service].key_variables, "k-1")
    settings = desk.settings(service, f'model = "{service}/x"\n', API_KEY="k-2", **keys)
    assert [profile.name for profile in usable(settings)] == ["offline"]


def test_no_local_server_takes_the_key_of_a_service_elsewhere() -> None:
    """`LLAMA_API_KEY` is Meta's: https://llama.developer.meta.com/docs/overview"""
    elsewhere = {variable for row in (*VENDORS, *ASIA, *GATEWAYS) for variable in row[2].split()} | {"LLAMA_API_KEY"}
    assert not elsewhere & {variable for row in LOCAL for variable in row[2].split()}


async def test_a_server_that_was_found_answers_when_nobody_else_would(desk: Desk) -> None:
    desk.body = json.dumps(VLLM).encode()
    settings = desk.settings("vllm")
    settings = replace(settings, discovered=replace(settings.discovered, servers=await find_servers(settings)))
    choice = resolve(settings, model=None)
    assert (choice.name, choice.setup.base_url) == ("vllm/org/qwen3", f"{desk.web.url}/v1")
    assert choice.notice is not None
    assert f"model server found at {desk.web.url}/v1" in choice.notice
    offered = available_models(settings)
    assert [offer.value for offer in offered] == ["vllm/org/qwen3", "offline/assistant"]
    assert offered[0].description == "vllm on this machine, 32,768 tokens"


async def test_a_key_comes_before_a_server_that_was_found(desk: Desk) -> None:
    desk.body = json.dumps(VLLM).encode()
    settings = desk.settings("vllm", GROQ_API_KEY="gsk_1")
    settings = replace(settings, discovered=replace(settings.discovered, servers=await find_servers(settings)))
    choice = resolve(settings, model=None)
    assert (choice.target.provider, choice.notice) == ("groq", None)


async def test_what_the_user_configured_is_not_looked_for(desk: Desk) -> None:
    config = '[providers.vllm]\nbase_url = "http://127.0.0.1:9/v1"\nmodels = ["mine"]\n'
    settings = desk.settings("vllm", config)
    assert server_addresses(settings) == []
    assert provider_profiles(settings)["vllm"].base_url == "http://127.0.0.1:9/v1"


# ------------------------------------------------------------------ where


def test_each_address_is_looked_at_once_and_every_server_has_its_own_port(tmp_path: Path) -> None:
    settings = load_settings(locations=find_locations({"CLAW_ACP_HOME": str(tmp_path)}), environ={}, cwd=None)
    ports = [place.base_url.split(":")[2].split("/")[0] for place in server_addresses(settings)]
    assert len(ports) == len(set(ports))
    assert {"11434", "1234", "8080", "8000", "30000", "4000", "1337"} <= set(ports)


@pytest.mark.parametrize(("text", "config"), [("off", ""), ("OFF ", ""), ("", "local_servers = false\n")])
def test_looking_can_be_switched_off(text: str, config: str, tmp_path: Path) -> None:
    (tmp_path / "config.toml").write_text(config)
    environ = {"CLAW_ACP_LOCAL_SERVERS": text}
    settings = load_settings(locations=find_locations({"CLAW_ACP_HOME": str(tmp_path)}), environ=environ, cwd=None)
    assert (settings.diagnostics, server_addresses(settings)) == ((), [])


def test_a_switch_that_says_nothing_known_is_told_of_and_ignored(tmp_path: Path) -> None:
    environ = {"CLAW_ACP_LOCAL_SERVERS": "perhaps"}
    settings = load_settings(locations=find_locations({"CLAW_ACP_HOME": str(tmp_path)}), environ=environ, cwd=None)
    assert "must be off, on, or places as in ollama=127.0.0.1:11434" in settings.diagnostics[0].text()
    assert settings.local_servers


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("127.0.0.1:1", "http://127.0.0.1:1"),
        (":1", "http://127.0.0.1:1"),
        ("box", "http://box:11434"),
        ("0.0.0.0", "http://127.0.0.1:11434"),
        ("[::]:1", "http://[::1]:1"),
        ("http://box", "http://box:80"),
        ("https://box/ollama/", "https://box:443/ollama"),
    ],
)
def test_addresses_are_read_as_ollama_reads_them(text: str, address: str) -> None:
    assert local_address(text, "http://127.0.0.1:11434") == address


@pytest.mark.parametrize("text", ["ollama", "ollama=", "=1", "ollama=ftp://x", "ollama=127.0.0.1:x", "ollama=a:1,vllm"])
def test_places_that_are_none_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"must be|Port|port"):
        named_places(text)


def test_a_server_that_is_named_is_asked_whether_it_was_found_or_not(desk: Desk) -> None:
    choice = resolve(desk.settings("ollama"), model="ollama/qwen3")
    assert (choice.name, choice.setup.base_url, choice.setup.api_key) == ("ollama/qwen3", desk.web.url, None)
    with pytest.raises(ConfigError, match='"ollama" names no model'):
        resolve(desk.settings("ollama"), model="ollama")
