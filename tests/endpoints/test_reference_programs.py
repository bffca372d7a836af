"""The reference programs, built and run: each language passes every vector, and lends its tool to a hub."""

from functools import partial
from pathlib import Path

import anyio
import pytest

from claw_acp.process.child_process import start_child
from claw_acp.verify.endpoint.run import examine, rules
from tests.endpoints.programs import PROGRAMS, ROLES, TOOLCHAINS, built, settings_for
from tests.support.program.agent_process import eventually
from tests.support.program.processes import run_program
from tests.support.script_files import Script
from tests.support.servers.hub import Hub, environment_of


def test_every_program_is_tried() -> None:
    assert {folder.name for folder in PROGRAMS.iterdir()} == TOOLCHAINS.keys()


@pytest.mark.timeout(300)
@pytest.mark.parametrize("language", TOOLCHAINS)
async def test_a_reference_program_passes_every_vector(language: str, tmp_path: Path) -> None:
    report = await examine(settings_for(built(language, tmp_path)), role=ROLES[language], reference=True)
    assert {verdict.rule.id: verdict.reason for verdict in report.verdicts if verdict.outcome != "pass"} == {}
    assert len(report.verdicts) == len(rules(ROLES[language]))
    assert report.agent == f"reference-{language} ({ROLES[language]})"


@pytest.mark.forked
async def test_programs_attach_to_a_hub_that_runs_already(home: Path, tmp_path: Path) -> None:
    environment = settings_for(()).env
    async with Hub.started(home=home, script=Script()) as hub:
        for language in ("python", "python-kit", "node"):
            child = await start_child([*built(language, tmp_path), str(hub.socket)], env=environment, stdin="pipe")
            try:
                await eventually(partial(_lends, home, language), what=f"{language} lends its tool")
            finally:
                with anyio.CancelScope(shield=True):
                    await child.end()


def _lends(home: Path, language: str) -> bool:
    shown = run_program("serve", "--status", cwd=home, env=environment_of(home)).stdout
    return f"reference-{language} 1.0 lends remote__word_count" in shown
