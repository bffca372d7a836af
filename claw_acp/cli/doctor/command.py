"""`claw-acp doctor`: what works on this machine, what does not, and how to fix it."""

import argparse
import json
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path

import anyio

from claw_acp.cli.current_settings import locations_here, settings_here
from claw_acp.cli.doctor.check import Check, Level
from claw_acp.cli.doctor.configured_programs import agent_checks, server_checks
from claw_acp.cli.doctor.machine import directory_checks, keyring_check, program_checks, python_check
from claw_acp.cli.doctor.memory import memory_check
from claw_acp.cli.doctor.sandbox import prove_sandbox, sandbox_check
from claw_acp.cli.known_models import settings_found_here
from claw_acp.cli.terminal.paint import Colour, Paint
from claw_acp.config.locations import Locations
from claw_acp.config.model import SESSION_MODEL
from claw_acp.config.secret_cache import SecretCache
from claw_acp.config.settings import Settings
from claw_acp.core.errors import ClawError, ConfigError, StoreError
from claw_acp.core.quantity import quantity
from claw_acp.core.value import as_dict
from claw_acp.providers.fallback.succession import Successions
from claw_acp.providers.models.lineage import lineage
from claw_acp.providers.registry.overview import ProviderState, provider_states
from claw_acp.providers.registry.profiles import provider_profiles
from claw_acp.providers.registry.services import OFFLINE
from claw_acp.providers.selection.resolve import resolve
from claw_acp.providers.selection.resolved_model import ResolvedModel
from claw_acp.providers.selection.route_rules import AUTO, HINT
from claw_acp.security.rules import RuleVerdict, parse_rule
from claw_acp.store.database import Database, Health

_COLOURS: Mapping[Level, Colour] = {"ok": "green", "warn": "yellow", "fail": "red"}


def main(argv: Sequence[str]) -> int:
    """Print the report, or attack the sandbox; 1 if something essential does not work."""
    parser = argparse.ArgumentParser(prog="claw-acp doctor", description="Check this machine.")
    parser.add_argument("--json", action="store_true", help="for programs")
    parser.add_argument("--prove", action="store_true", help="attack the sandbox of commands, and show what stops it")
    parser.add_argument("--sandbox", metavar="NAME", help="the sandbox to attack; without it, the one in force")
    options = parser.parse_args(argv)
    if options.prove or options.sandbox:
        section = settings_here().sandbox
        return prove_sandbox(locations_here(), name=options.sandbox or section.backend, image=section.image or "")
    checks = list(examine(settings_found_here(), locations=locations_here()))
    failed = any(check.level == "fail" for check in checks)
    if options.json:
        print(json.dumps({"ok": not failed, "checks": [as_dict(check) for check in checks]}, indent=2))
    else:
        _print(checks)
    return 1 if failed else 0


def examine(settings: Settings, *, locations: Locations) -> Iterator[Check]:
    """Every check, in the order of the report."""
    yield python_check()
    yield from config_checks(settings, file=locations.config_file)
    yield from rule_checks(settings)
    yield model_check(settings)
    yield from route_checks(settings)
    yield local_servers_check(settings)
    yield from provider_checks(provider_states(settings))
    yield keyring_check()
    yield from server_checks(settings)
    yield from agent_checks(settings)
    yield store_check(locations.database)
    yield memory_check(settings, locations=locations)
    yield sandbox_check(locations, settings.sandbox)
    yield from directory_checks(locations)
    yield from program_checks()


def config_checks(settings: Settings, *, file: Path) -> Iterator[Check]:
    """The configuration, one line for each diagnostic."""
    if not settings.diagnostics:
        yield Check(level="ok", subject="config", detail=str(file) if file.exists() else f"{file} (none, not needed)")
    for finding in settings.diagnostics:
        level: Level = "fail" if finding.severity == "error" else "warn"
        yield Check(level=level, subject="config", detail=finding.text(), advice="fix or remove the line")


def rule_checks(settings: Settings) -> Iterator[Check]:
    """Invalid permission rules, which have no effect."""
    rules = settings.permissions
    lists: Mapping[RuleVerdict, Sequence[str]] = {"allow": rules.allow, "ask": rules.ask, "deny": rules.deny}
    for verdict, texts in lists.items():
        for index, text in enumerate(texts):
            try:
                parse_rule(text, verdict=verdict)
            except ConfigError as error:
                origin = settings.origin(f"permissions.{verdict}[{index}]").text()
                yield Check(level="fail", subject="rule", detail=f"{origin}: {error.message}", advice="fix the rule")


def model_check(settings: Settings) -> Check:
    """The check of whether a new session has a model to answer."""
    try:
        choice, secrets = resolve(settings, model=None), SecretCache()
        for reference in choice.target.unread:
            secrets.fetch(reference, settings.environ)
    except ClawError as error:
        advice = "run claw-acp login, or fix config.toml or the environment"
        return Check(level="fail", subject="model", detail=error.message, advice=advice)
    if choice.target.provider == OFFLINE.name and settings.model is None:
        detail = f"{choice.name}, the built-in assistant: no key was found"
        advice = "run claw-acp login, set ANTHROPIC_API_KEY or OPENAI_API_KEY, or add a provider to config.toml"
        return Check(level="warn", subject="model", detail=detail, advice=advice)
    if why := _gone(choice, settings):
        return Check(level="warn", subject="model", detail=why, advice="choose another model, or see `claw-acp models`")
    return Check(level="ok", subject="model", detail=choice.name)


def _gone(choice: ResolvedModel, settings: Settings) -> str:
    """The warning about a model that its service no longer lists, or will retire; empty: none."""
    profile = provider_profiles(settings)[choice.target.provider]
    named = lineage(choice.target.model)
    same = {(line.family, line.version) for line in (lineage(info.id) for info in profile.listed)}
    if profile.listed and (named.family, named.version) not in same:
        successions = Successions(about=settings.discovered.about)
        successor = successions.successor(choice, profile.listed, gone=False)
        return (
            successions.reason(choice, successor) if successor else f"{choice.name}: {profile.name} lists no such model"
        )
    known = profile.about(choice.target.model)
    return f"{choice.name} works, and will be retired by {profile.name}" if known and known.deprecated else ""


def route_checks(settings: Settings) -> Iterator[Check]:
    """Routes, rules and the models for images and summaries that cannot be resolved."""
    wanted = [f"{HINT}{name}" for name in settings.routes]
    wanted += [f"{HINT}{AUTO}"] if settings.rules else []
    wanted += [model for model in (settings.vision_model, settings.summary_model) if model and model != SESSION_MODEL]
    for model in wanted:
        try:
            resolve(settings, model=model)
        except ClawError as error:
            yield Check(level="warn", subject=model, detail=error.message, advice="fix config.toml, or log in")


def store_check(database: Path) -> Check:
    """The session store, read completely."""
    if not database.exists():
        return Check(level="ok", subject="sessions", detail=f"{database} (made with the first session)")
    try:
        health = anyio.run(partial(_health, database))
    except StoreError as error:
        return Check(level="fail", subject="sessions", detail=error.message, advice="move the file away to start over")
    if health.problems:
        detail = f"{database} is damaged: {'; '.join(health.problems[:3])}"
        return Check(level="fail", subject="sessions", detail=detail, advice="restore a copy, or move the file away")
    return Check(level="ok", subject="sessions", detail=f"{database} (schema {health.version}, {health.size} bytes)")


async def _health(database: Path) -> Health:
    async with Database.opened(database) as opened:
        return await opened.check_health()


def local_servers_check(settings: Settings) -> Check:
    """The model servers that answered on this machine."""
    if not settings.local_servers:
        place = settings.origin("local_servers").text()
        return Check(level="ok", subject="local servers", detail=f"not looked for ({place})")
    found = [
        f"{server.name} at {server.base_url} ({'it needs a key' if server.locked else offered})"
        for server in settings.discovered.servers.values()
        for offered in (quantity(len(server.models), "model"),)
    ]
    return Check(level="ok", subject="local servers", detail=", ".join(found) or "none found")


def provider_checks(states: Sequence[ProviderState]) -> Iterator[Check]:
    """A line for each provider that a person set up, or that has a wrong key; one for all others."""
    shown = [state for state in states if state.ready or state.configured or state.key_source or state.wrong_key]
    yield from (_provider(state) for state in shown)
    detail = f"{len(states) - len(shown)} more are known and not set up; `claw-acp providers list` shows them"
    yield Check(level="ok", subject="providers", detail=detail)


def _provider(state: ProviderState) -> Check:
    subject = f"provider {state.name}"
    if state.ready:
        key = f"key from {state.key_source}" if state.key_source else "no key needed"
        where = f", {state.base_url} ({state.base_url_origin})" if state.base_url_origin != "default" else ""
        return Check(level="ok", subject=subject, detail=key + where)
    if state.configured or state.wrong_key:
        return Check(level="warn", subject=subject, detail=state.problem or "", advice="complete it, or remove it")
    return Check(level="ok", subject=subject, detail=f"not set up ({state.problem})")


def _print(checks: Sequence[Check]) -> None:
    paint = Paint()
    width = max(len(check.subject) for check in checks)
    for check in checks:
        print(f"{paint(f'{check.level:<4}', _COLOURS[check.level])}  {check.subject:<{width}}  {check.detail}")
        if check.advice:
            print(f"{'':<{width + 8}}-> {check.advice}")
