"""Model servers on this machine: found by requesting their model lists at their default ports.

Any program may listen there: only a valid list of models proves a model server.
"""

import json
import logging
from collections.abc import Mapping, Sequence
from typing import cast

import anyio

from claw_acp.config.discovered_models import FoundServer
from claw_acp.config.settings import Settings
from claw_acp.contracts.provider import ModelInfo
from claw_acp.core.json_value import JsonObject, JsonValue
from claw_acp.core.value import Value, replace
from claw_acp.net.loopback_get import Answer, get
from claw_acp.providers.models.chat_models import for_chat
from claw_acp.providers.registry.profiles import server_address
from claw_acp.providers.registry.service import KnownService
from claw_acp.providers.registry.service_table import LOCAL
from claw_acp.providers.registry.services import SERVICES
from claw_acp.providers.transport.model_rows import model_in
from claw_acp.providers.transport.wire import items_at, number_at, object_at, text_at

UNAUTHORIZED = (401, 403)
DETAILS = {"lmstudio": "/api/v0/models", "llamacpp": "/props"}
"""Paths of further details about the models in OpenAI's list; below the address without `/v1`.

https://lmstudio.ai/docs/api/rest-api, https://github.com/ggml-org/llama.cpp/blob/master/tools/server/README.md
"""

log = logging.getLogger(__name__)


class ServerAddress(Value):
    """An address at which a server may listen."""

    service: KnownService
    base_url: str


def server_addresses(settings: Settings) -> list[ServerAddress]:
    """The addresses to try, each for one server only. A server that the user configured is not searched."""
    if not settings.local_servers:
        return []
    found: dict[str, ServerAddress] = {}
    for row in LOCAL:
        service = SERVICES[row[0].partition(" ")[0]]
        section = settings.providers.get(service.name)
        placed = not settings.server_places or service.name in settings.server_places
        if placed and not (section and (section.base_url or section.kind)):
            base_url, _ = server_address(service, settings=settings)
            found.setdefault(base_url.removesuffix("/v1"), ServerAddress(service=service, base_url=base_url))
    return list(found.values())


async def find_servers(settings: Settings) -> Mapping[str, FoundServer]:
    """The servers that answer now, by provider, in the order of the table; a closed port costs nothing."""
    looked_at = server_addresses(settings)
    found: dict[str, FoundServer] = {}

    async def ask(address: ServerAddress) -> None:
        server = await _ask(address, settings=settings)
        if server is not None:
            found[server.name] = server

    async with anyio.create_task_group() as tasks:
        for address in looked_at:
            tasks.start_soon(ask, address)
    return {address.service.name: found[address.service.name] for address in looked_at if address.service.name in found}


async def _ask(address: ServerAddress, *, settings: Settings) -> FoundServer | None:
    """The server at an address. A key is sent only to a model server that requires one."""
    service, base_url = address.service, address.base_url
    native = service.kind == "ollama"
    url = base_url + ("/api/tags" if native else "/models")
    answer, headers = await get(url), ()
    if answer is not None and _asks_for_key(answer) and (key := _key(service, settings=settings)):
        headers = (("Authorization", f"Bearer {key}"),)
        answer = await get(url, headers=headers)
    if answer is None:
        return None
    if _asks_for_key(answer):
        return FoundServer(name=service.name, base_url=base_url, locked=True)
    body = _object(answer.body)
    models = None if answer.status != 200 else _tagged(body) if native else _listed(body)
    if models is None:
        log.info("no model server", extra={"provider": service.name, "address": base_url, "status": answer.status})
        return None
    if service.name in DETAILS and (
        more := await get(base_url.removesuffix("/v1") + DETAILS[service.name], headers=headers)
    ):
        models = _detailed(models, _object(more.body))
    return FoundServer(name=service.name, base_url=base_url, models=for_chat(models))


def _asks_for_key(answer: Answer) -> bool:
    """True if a model server refused a request without a key, in the form of OpenAI's API, or vLLM's (a plain text).

    https://platform.openai.com/docs/guides/error-codes
    """
    if answer.status not in UNAUTHORIZED:
        return False
    body = _object(answer.body)
    return bool(text_at(body, "error") or text_at(object_at(body, "error"), "message"))


def _key(service: KnownService, *, settings: Settings) -> str:
    """The key in the server's own variable; empty when none can be sent."""
    key = next((key for variable in service.key_variables if (key := settings.environ.get(variable, "").strip())), "")
    return key if key.isascii() and key.isprintable() else ""


def _object(body: bytes) -> JsonObject:
    try:
        value: JsonValue = json.loads(body)
    except (ValueError, RecursionError):
        return {}
    return cast("JsonObject", value) if isinstance(value, dict) else {}


def _tagged(body: JsonObject) -> list[ModelInfo] | None:
    """Ollama's list (https://github.com/ollama/ollama/blob/main/docs/api.md#list-local-models), or None."""
    rows = body.get("models")
    if not isinstance(rows, list):
        return None
    names = [text_at(row, "model") or text_at(row, "name") for row in rows if isinstance(row, Mapping)]
    return [ModelInfo(id=name) for name in names if name]


def _listed(body: JsonObject) -> list[ModelInfo] | None:
    """OpenAI's list (https://platform.openai.com/docs/api-reference/models/list), or None."""
    rows = body.get("data")
    if not isinstance(rows, list):
        return None
    known = [row for row in rows if isinstance(row, Mapping) and text_at(row, "id")]
    if body.get("object") != "list" or len(known) != len(rows):
        return None
    return [model_in(row) for row in known]


def _detailed(models: Sequence[ModelInfo], details: JsonObject) -> list[ModelInfo]:
    """The models with the server's further details: LM Studio has them for each, llama.cpp for the one it runs."""
    rows = {text_at(row, "id"): row for row in items_at(details, "data") if isinstance(row, Mapping)}
    if rows:
        return [model_in(rows[info.id]).over(info) if info.id in rows else info for info in models]
    window = number_at(object_at(details, "default_generation_settings"), "n_ctx")
    modalities = object_at(details, "modalities")
    sees, hears = (said if isinstance(said := modalities.get(name), bool) else None for name in ("vision", "audio"))
    running = ModelInfo(id="", context_window=max(0, window), images=sees, audio=hears)
    return [replace(running.over(info), id=info.id) for info in models] if len(models) == 1 else list(models)
