"""The programs that the configuration names: what is to run, which files it comes from, and what is wrong with it."""

import re
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final, TypeAlias

from claw_acp.config.diagnostic import Diagnostic
from claw_acp.config.model import EndpointSection
from claw_acp.config.secret_cache import SecretCache
from claw_acp.config.settings import Settings
from claw_acp.core.errors import ConfigError
from claw_acp.core.value import Value

_INTERPRETER: Final = r"(python|pypy|node|deno|bun|perl|ruby|php|lua|(ba|da|z|k)?sh)[0-9.]*"

Stamp: TypeAlias = tuple[int, int, int]


class ProgramPlan(Value):
    """A program to run.

    Attributes:
        name: Its name in the configuration.
        argv: The program and its arguments.
        env: Its variables, besides ours without our keys.
        files: The files that it is made of, and their state; None: it is not there.
    """

    name: str
    argv: Sequence[str]
    env: Mapping[str, str]
    files: Mapping[Path, Stamp | None] = {}


class ProgramPlans(Value):
    """The programs of the configuration.

    Attributes:
        plans: Those to run.
        problems: What is wrong, by program; such a one goes on as it was last understood.
        unreadable: Nothing is known, as the whole file cannot be used: all go on.
    """

    plans: Sequence[ProgramPlan]
    problems: Mapping[str, str]
    unreadable: str = ""


def read_plans(settings: Settings, secrets: SecretCache) -> ProgramPlans:
    """The programs that settings name. Blocks: keys may have to be read."""
    errors = [one for one in settings.diagnostics if one.severity == "error"]
    whole = next((one.text() for one in errors if one.key in {"", "endpoints"} and not settings.endpoints), "")
    problems = {_program_of(one, settings): one.text() for one in errors if one.key.startswith("endpoints.")}
    plans: list[ProgramPlan] = []
    for name, section in settings.endpoints.items():
        if not section.enabled or name in problems:
            continue
        try:
            plans.append(_plan(name, section, settings, secrets))
        except ConfigError as error:
            problems[name] = f"a variable of endpoints.{name} cannot be resolved: {error.message}"
    return ProgramPlans(plans=plans, problems=problems, unreadable=whole)


def _plan(name: str, section: EndpointSection, settings: Settings, secrets: SecretCache) -> ProgramPlan:
    argv = (section.command, *section.args)
    env = {variable: text.get(settings.environ, secrets) for variable, text in section.env.items()}
    found = shutil.which(section.command, path={**settings.environ, **env}.get("PATH"))
    files = [Path(found or section.command)] if found or "/" in section.command else []
    if re.fullmatch(_INTERPRETER, Path(section.command).name):  # others may well be given files that they write
        files += [Path(word) for word in section.args if not word.startswith("-")][:1]
    return ProgramPlan(name=name, argv=argv, env=env, files={file: _stamp(file) for file in files})


def _program_of(problem: Diagnostic, settings: Settings) -> str:
    """The program that a mistake is about, which the settings may not have."""
    rest = problem.key.removeprefix("endpoints.")
    known = [name for name in settings.endpoints if rest == name or rest.startswith(f"{name}.")]
    return max(known, key=len, default=rest.partition(".")[0])


def _stamp(file: Path) -> Stamp | None:
    try:
        facts = file.stat()
    except OSError:
        return None
    return (facts.st_mtime_ns, facts.st_size, facts.st_ino) if file.is_file() else None
