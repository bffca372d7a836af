"""Models that are gone: a new user's first prompt is answered by the successor, and a notice says so."""

import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from tests.support.editors.exchange import Json
from tests.support.editors.shared_house import Guest, SharedHouse
from tests.support.script_files import Script
from tests.support.servers.gemini_replies import answered
from tests.support.servers.model_replies import Raw, ReceivedRequest, Say, failure
from tests.support.servers.model_server import ModelServer

OPENAI_GONE = "The model `{}` has been deprecated, learn more here: https://platform.openai.com/docs/deprecations"
NOT_OPENAI = "The model `{}` does not exist or you do not have access to it."


@dataclass(frozen=True, kw_only=True)
class Vendor:
    """What a vendor says of a model that is gone, and which it lists; the first of them is the successor."""

    name: str
    variable: str
    status: int
    refusal: str
    listed: tuple[str, ...]
    path: str = "/v1"


def openai_error(message: str, **more: str) -> str:
    return json.dumps({"error": {"message": message, "type": "invalid_request_error", **more}})


VENDORS = (
    Vendor(
        name="anthropic",
        variable="ANTHROPIC_API_KEY",
        status=404,
        refusal='{"type": "error", "error": {"type": "not_found_error", "message": "model: @"}, "request_id": "req_1"}',
        listed=("claude-sonnet-9-1", "claude-opus-9", "claude-sonnet-9-preview", "claude-sonnet-8-20990101"),
        path="",
    ),
    Vendor(
        name="openai",
        variable="OPENAI_API_KEY",
        status=404,
        refusal=openai_error(OPENAI_GONE.format("@"), code="model_not_found"),
        listed=("gpt-9.1-sol", "gpt-image-10", "gpt-9-sol", "gpt-9-terra", "text-embedding-9", "ft:gpt-9:me"),
    ),
    Vendor(
        name="gemini",
        variable="GEMINI_API_KEY",
        status=404,
        refusal=json.dumps(
            {
                "error": {
                    "code": 404,
                    "message": "models/@ is not found for API version v1beta, or is not supported for generateContent. "
                    "Call ListModels to see the list of available models and their supported methods.",
                    "status": "NOT_FOUND",
                }
            }
        ),
        listed=("gemini-9.1-flash", "gemini-9.9-flash-preview", "gemini-9.1-flash-image", "gemini-9-pro"),
        path="",
    ),
    Vendor(
        name="xai",
        variable="XAI_API_KEY",
        status=404,
        refusal='{"code": "Some requested entity was not found", "error": "The model @ does not exist or your team 1-2 '
        'does not have access to it. Please ensure you\'re using the correct API key."}',
        listed=("grok-9.1", "grok-9.1-fast", "grok-9-0709", "grok-imagine-image"),
    ),
    Vendor(
        name="deepseek",
        variable="DEEPSEEK_API_KEY",
        status=400,
        refusal=openai_error("Model Not Exist", code="invalid_request_error"),
        listed=("deepseek-v9-flash", "deepseek-v9-pro"),
        path="",
    ),
    Vendor(
        name="groq",
        variable="GROQ_API_KEY",
        status=400,
        refusal=openai_error("The model `@` has been decommissioned and is no longer supported. Please refer to "
                             "https://console.groq.com/docs/deprecations", code="model_decommissioned"),
        listed=("qwen/qwen9-32b", "whisper-large-v9"),
    ),
    Vendor(
        name="moonshot",
        variable="MOONSHOT_API_KEY",
        status=404,
        refusal=openai_error("Not found the model @ or Permission denied"),
        listed=("kimi-k9.1", "kimi-k9", "kimi-k9.1-preview", "kimi-k9.1-code"),
    ),
    Vendor(
        name="qwen",
        variable="DASHSCOPE_API_KEY",
        status=404,
        refusal=openai_error(NOT_OPENAI.format("@"), code="model_not_found"),
        listed=("qwen9-coder-plus", "qwen9-max", "qwen9-coder-plus-2099-01-01"),
    ),
    Vendor(
        name="nvidia",
        variable="NVIDIA_API_KEY",
        status=410,
        refusal='{"status": 410, "title": "Gone", "detail": "The model @ has reached its end of life on 2026-01-01"}',
        listed=("nvidia/nemotron-9", "nvidia/embed-9"),
    ),
)  # fmt: skip


def listing(vendor: Vendor) -> Raw:
    """The vendor's own form of a list."""
    if vendor.name == "gemini":
        named = [
            {"name": f"models/{model}", "supportedGenerationMethods": ["generateContent"]} for model in vendor.listed
        ]
        return failure(200, {"models": named})
    if vendor.name == "anthropic":
        return failure(200, {"data": [{"type": "model", "id": model} for model in vendor.listed], "has_more": False})
    return failure(200, {"object": "list", "data": [{"id": model, "object": "model"} for model in vendor.listed]})


def asked_model(request: ReceivedRequest) -> str:
    if ":streamGenerateContent" in request.path:
        return request.path.partition("models/")[2].partition(":")[0]
    return json.loads(request.body)["model"]


def serve(server: ModelServer, vendor: Vendor) -> None:
    def reply(request: ReceivedRequest) -> Raw:
        model = asked_model(request)
        if model not in vendor.listed:
            return Raw(
                status=vendor.status,
                content_type="application/json",
                pieces=[vendor.refusal.replace("@", model).encode()],
            )
        say = Say(text=(f"I am {model}",))
        return answered(say) if vendor.name == "gemini" else say.render(request.family)

    server.always(reply)
    server.always_lists(listing(vendor))


@asynccontextmanager
async def visited(
    vendor: Vendor, *, project: Path, home: Path, config: str = "", model: str = ""
) -> AsyncGenerator[tuple[Guest, ModelServer]]:
    async with ModelServer() as server:
        serve(server, vendor)
        place = f'[providers.{vendor.name}]\nbase_url = "http://127.0.0.1:{server.port}{vendor.path}"\n'
        env = {vendor.variable: "test-key-0123456789", "CLAW_ACP_MODEL": model or vendor.name}
        async with SharedHouse.opened(
            project=project, home=home, script=Script(), config=place + config, env=env
        ) as house:
            guest = await house.visit(session={"notices": {}})
            yield guest, server


def picked(editor: Guest, answer: Json) -> str:
    return next(option["currentValue"] for option in answer["configOptions"] if option["id"] == "model")


@pytest.mark.parametrize("vendor", VENDORS, ids=lambda vendor: vendor.name)
async def test_the_first_prompt_of_a_new_user_is_answered_though_the_default_is_gone(
    vendor: Vendor, project: Path, home: Path
) -> None:
    async with visited(vendor, project=project, home=home) as (editor, server):
        old = picked(editor, await editor.new_session())
        outcome = await editor.prompt("hello")
        assert outcome.text == f"I am {vendor.listed[0]}"
        [notice] = editor.updates("notice")
        assert notice["title"] == f"{vendor.name}/{vendor.listed[0]} answers instead"
        assert notice["description"].startswith(f"{vendor.name} no longer has {old.partition('/')[2]};")
        [told] = editor.updates("config_option_update")[-1:]
        assert picked(editor, told) == f"{vendor.name}/{vendor.listed[0]}"
        asked = len(server.requests)
        assert (await editor.prompt("again")).text == f"I am {vendor.listed[0]}"
        assert len(server.requests) == asked + 1
        assert len(editor.updates("notice")) == 1
        assert picked(editor, await editor.new_session()) == f"{vendor.name}/{vendor.listed[0]}"


OPENAI = next(vendor for vendor in VENDORS if vendor.name == "openai")
ANTHROPIC = next(vendor for vendor in VENDORS if vendor.name == "anthropic")


async def test_a_model_that_somebody_named_is_replaced_as_well_and_the_notice_says_how_to_settle_it(
    project: Path, home: Path
) -> None:
    async with visited(ANTHROPIC, project=project, home=home, model="anthropic/claude-opus-4-1") as (editor, _):
        await editor.new_session()
        assert (await editor.prompt("hello")).text == "I am claude-opus-9"
        [notice] = editor.updates("notice")
        assert 'set model = "anthropic/claude-opus-9"' in notice["description"]
        assert "CLAW_ACP_MODEL names the old one" in notice["description"]
        await editor.new_session()
        assert (await editor.prompt("hello")).text == "I am claude-opus-9"
        assert "no longer has claude-opus-4-1" in editor.updates("notice")[-1]["title"]


async def test_a_mistyped_model_is_replaced_by_nothing(project: Path, home: Path) -> None:
    mistyped = replace(OPENAI, refusal=openai_error(NOT_OPENAI.format("@"), code="model_not_found"))
    async with visited(mistyped, project=project, home=home, model="openai/gtp-9-sol") as (editor, _):
        await editor.new_session()
        failure = await (await editor.start_prompt("hello")).failure()
        assert "openai does not know the model gtp-9-sol" in failure.message
        assert not any("answers instead" in notice["title"] for notice in editor.updates("notice"))


async def test_a_route_whose_model_is_gone_leads_to_the_successor(project: Path, home: Path) -> None:
    route = '[routes]\nfast = "openai/gpt-5.6-terra"\n'
    async with visited(OPENAI, project=project, home=home, config=route, model="hint:fast") as (editor, _):
        assert picked(editor, await editor.new_session()) == "hint:fast"
        assert (await editor.prompt("hello")).text == "I am gpt-9-terra"
        assert (await editor.prompt("again")).text == "I am gpt-9-terra"
        assert [notice["title"] for notice in editor.updates("notice")][:1] == ["openai/gpt-9-terra answers instead"]


async def test_a_dearer_successor_is_announced_with_both_prices(project: Path, home: Path) -> None:
    rows = [
        {"id": "vendor/mid-1", "pricing": {"prompt": "0.000001", "completion": "0.000002"}},
        {"id": "vendor/mid-2", "pricing": {"prompt": "0.000003", "completion": "0.000002"}},
    ]
    vendor = Vendor(
        name="openrouter",
        variable="OPENROUTER_API_KEY",
        status=404,
        refusal=openai_error("No endpoints found for @."),
        listed=("vendor/mid-2",),
    )
    async with visited(vendor, project=project, home=home, model="openrouter/vendor/mid-1") as (editor, server):
        server.always_lists(failure(200, {"object": "list", "data": rows}))
        await editor.new_session()
        assert (await editor.prompt("hello")).text == "I am vendor/mid-2"
        [notice] = editor.updates("notice")
        assert "costs $3.00 and $2.00 for a million tokens in and out; the old one cost $1.00" in notice["description"]
