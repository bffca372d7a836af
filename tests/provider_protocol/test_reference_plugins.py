"""The reference plugins, built and run: each language passes every vector of the specification."""

from pathlib import Path

import pytest

from claw_acp.verify.provider.run import examine
from claw_acp.verify.provider.vectors import VECTORS
from tests.provider_protocol.plugins import PLUGINS, TOOLCHAINS, built, settings_for
from tests.support.toolchain import missing


def test_every_plugin_is_tried() -> None:
    assert {folder.name for folder in PLUGINS.iterdir()} == TOOLCHAINS.keys()


def test_a_toolchain_that_is_there_and_does_not_run_is_missing(tmp_path: Path) -> None:
    shim = tmp_path / "rustc"
    shim.write_text("#!/bin/sh\necho 'error: no default toolchain is configured' >&2; exit 1\n")
    shim.chmod(0o755)
    assert missing(str(shim)) == f"{shim} is here and does not run: error: no default toolchain is configured"
    assert missing(str(tmp_path / "none")) == f"{tmp_path}/none is not here"


@pytest.mark.timeout(300)
@pytest.mark.parametrize("language", TOOLCHAINS)
async def test_a_reference_plugin_passes_every_vector(language: str, tmp_path: Path) -> None:
    report = await examine(settings_for(built(language, tmp_path)), reference=True)
    assert {verdict.rule.id: verdict.reason for verdict in report.verdicts if verdict.outcome != "pass"} == {}
    assert len(report.verdicts) == len(VECTORS)
    assert report.agent == f"reference-{language} (session and oneshot)"
