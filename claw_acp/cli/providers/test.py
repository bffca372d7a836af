"""`claw-acp providers test NAME`: a small real request, and its results."""

import argparse
import json
from collections.abc import AsyncGenerator, Mapping
from functools import partial

import anyio

from claw_acp.cli.doctor.check import Check, Level
from claw_acp.cli.known_models import settings_found_here
from claw_acp.cli.terminal.paint import Colour, Paint
from claw_acp.config.diagnostic import did_you_mean
from claw_acp.config.secret_cache import SecretCache
from claw_acp.config.settings import Settings
from claw_acp.contracts.provider import Provider
from claw_acp.core.address import shown_address
from claw_acp.core.errors import (
    AuthRequired,
    ClawError,
    ConfigError,
    ModelNotFound,
    ProviderAuthFailed,
    ProviderError,
    ProviderTimeout,
    ProviderUnreachable,
)
from claw_acp.core.value import as_dict, replace
from claw_acp.net.closing import closing
from claw_acp.providers.checks.probe import ProbeAnswer, ask, asked_for_tool, listed_models, made
from claw_acp.providers.fallback.succession import Successions, says_gone
from claw_acp.providers.models.chat_models import for_chat
from claw_acp.providers.registry.profiles import ProviderProfile, provider_profiles
from claw_acp.providers.selection.resolve import resolve_ready
from claw_acp.providers.selection.resolved_model import ResolvedModel
from claw_acp.providers.text_tools.provider import ToolModes

_COLOURS: Mapping[Level, Colour] = {"ok": "green", "warn": "yellow", "fail": "red"}


def main(options: argparse.Namespace) -> int:
    """Print results as they come; 1 if the provider does not answer.

    Raises:
        ConfigError: There is no such provider.
    """
    settings = settings_found_here()
    profiles = provider_profiles(settings)
    profile = profiles.get(options.name)
    if profile is None:
        hint = did_you_mean(options.name, list(profiles)) or "`claw-acp providers list` shows them all"
        raise ConfigError(f'there is no provider "{options.name}"; {hint}')
    checks = anyio.run(partial(_tried, profile, settings, model=options.model, shown=not options.json))
    failed = any(check.level == "fail" for check in checks)
    if options.json:
        print(json.dumps({"ok": not failed, "checks": [as_dict(check) for check in checks]}, indent=2))
    return 1 if failed else 0


async def _tried(profile: ProviderProfile, settings: Settings, *, model: str | None, shown: bool) -> list[Check]:
    paint, checks = Paint(), list[Check]()
    async with closing(_checks(profile, settings, model=model)) as found:
        async for check in found:
            checks.append(check)
            if shown:
                print(f"{paint(f'{check.level:<4}', _COLOURS[check.level])}  {check.subject:<8}  {check.detail}")
                if check.advice:
                    print(f"{'':<16}-> {check.advice}", flush=True)
    return checks


async def _checks(profile: ProviderProfile, settings: Settings, *, model: str | None) -> AsyncGenerator[Check, None]:
    try:
        profile.check()
        yield Check(level="ok", subject="program" if _is_program(profile) else "address", detail=_address(profile))
        secrets = SecretCache()
        model = model or await _first_model(profile, settings, secrets=secrets)
        choice = await resolve_ready(settings, model=f"{profile.name}/{model}", secrets=secrets)
        yield Check(level="ok", subject="key", detail=choice.key_source or "none, and none is needed")
        modes = ToolModes()
        async with made(choice.setup, tool_modes=modes, about=settings.discovered.about) as provider:
            answered, choice, replaced = await _answered(provider, choice, settings)
            if replaced is not None:
                yield replaced
            yield _answer(answered, choice)
            yield await _tools(provider, choice, modes)
            able = provider.capabilities(choice.target.model)
            seen = "yes" if able.images else "no, as far as is known of this model"
            window = f"{able.context_window:,} tokens" if able.context_window else "not known"
            yield Check(level="ok", subject="images", detail=seen)
            yield Check(level="ok", subject="window", detail=window)
    except ClawError as error:
        yield Check(level="fail", subject=_stage(error, profile), detail=error.message, advice=_advice(error, profile))


async def _answered(
    provider: Provider, choice: ResolvedModel, settings: Settings
) -> tuple[ProbeAnswer, ResolvedModel, Check | None]:
    """The answer and its model: as for a prompt, the successor of a retired model."""
    try:
        return await ask(provider, choice.target.model), choice, None
    except ModelNotFound as error:
        listed = for_chat(await provider.models())
        discovered = replace(
            settings.discovered, lists={**settings.discovered.lists, (provider.name, choice.setup.base_url): listed}
        )
        successions = Successions(about=discovered.about)
        successor = successions.successor(choice, listed, gone=says_gone(error))
        if not successor:
            raise
        detail = successions.reason(choice, successor)
        now = choice.with_model(successor)
        check = Check(level="warn", subject="model", detail=detail, advice=f'set model = "{now.target.name}"')
        return await ask(provider, successor), now, check


async def _first_model(profile: ProviderProfile, settings: Settings, *, secrets: SecretCache) -> str:
    if profile.models:
        return profile.models[0]
    models = await listed_models(profile, settings=settings, secrets=secrets)
    if not models:
        raise ConfigError(f"no model of {profile.name} is known; name one with --model")
    return models[0].id


def _is_program(profile: ProviderProfile) -> bool:
    return profile.kind == "binary"


def _address(profile: ProviderProfile) -> str:
    if _is_program(profile):
        return " ".join([profile.section.command or "", *profile.section.args])
    where = shown_address(profile.base_url) or "chosen by the provider itself"
    return f"{where} ({profile.kind}, {profile.base_url_origin.text()})"


def _answer(answered: ProbeAnswer, choice: ResolvedModel) -> Check:
    usage = answered.usage
    counted = f"{usage.input_tokens} tokens in, {usage.output_tokens} out" if usage else "tokens not counted"
    pieces = f"arrived in {answered.pieces} read{'' if answered.pieces == 1 else 's'}"
    thought = ", after thinking" if answered.thought else ""
    detail = (
        f"{choice.name} says {answered.text.strip()[:40]!r}{thought}: {pieces}, "
        f"first after {answered.first_piece:.2f} s, all after {answered.seconds:.2f} s; {counted}"
    )
    if answered.text.strip():
        return Check(level="ok", subject="answer", detail=detail)
    return Check(level="warn", subject="answer", detail=detail, advice="the answer is empty; try another model")


async def _tools(provider: Provider, choice: ResolvedModel, modes: ToolModes) -> Check:
    try:
        called = await asked_for_tool(provider, choice.target.model)
    except ProviderError as error:
        return Check(level="warn", subject="tools", detail=error.message, advice="the agent needs tools to do any work")
    words = await modes.in_words(provider.name, choice.target.model) or choice.setup.quirks.tools is False
    way = "as text, since the model has no native tools" if words else "natively"
    if called:
        return Check(level="ok", subject="tools", detail=f"called {way}")
    detail = f"offered {way}, and not called although the model was instructed to"
    return Check(level="warn", subject="tools", detail=detail, advice="a larger model may do better")


def _stage(error: ClawError, profile: ProviderProfile) -> str:
    match error:
        case AuthRequired() | ProviderAuthFailed():
            return "key"
        case ConfigError():
            return "program" if _is_program(profile) else "address"
        case ProviderUnreachable():
            return "started" if _is_program(profile) else "reached"
        case _:
            return "answer"


def _advice(error: ClawError, profile: ProviderProfile) -> str:
    """The remedy, where the error itself cannot know it."""
    match error:
        case ProviderAuthFailed():
            return f"run `claw-acp login {profile.name}` with a key that is valid"
        case ProviderError() if _is_program(profile):
            return _program_advice(error, profile)
        case ProviderUnreachable() if profile.local:
            return f"start {profile.name}, or set its address in CLAW_ACP_LOCAL_SERVERS"
        case ProviderUnreachable() | ProviderTimeout():
            return "check the network, the proxy and base_url"
        case ModelNotFound():
            return f"`claw-acp models {profile.name}` lists the models; choose one with --model"
        case _:
            return ""


def _program_advice(error: ProviderError, profile: ProviderProfile) -> str:
    table = f"[providers.{profile.name}]"
    match error:
        case ProviderUnreachable():
            return f"run the command of {table} by hand; a script needs a first line as in #!/usr/bin/env python3"
        case ProviderTimeout():
            return f"raise timeout in {table}, or look at the program's own messages"
        case ModelNotFound():
            return f"`claw-acp models {profile.name}` lists the models; choose one with --model"
        case _:
            return "look at the program's own messages; `claw-acp verify provider` tries all of the protocol"
