"""The reference plugins, built and run: each language passes every vector of the specification."""

from pathlib import Path

import pytest

from claw_acp.verify.provider.run import examine
from claw_acp.verify.provider.vectors import VECTORS
from tests.provider_protocol.plugins import PLUGINS, TOOLCHAINS, built, settings_for


def test_every_plugin_is_tried() -> None:
    assert {folder.name for folder in PLUGINS.iterdir()} == TOOLCHAINS.keys()


@pytest.mark.timeout(300)
@pytest.mark.parametrize("language", TOOLCHAINS)
async def test_a_reference_plugin_passes_every_vector(language: str, tmp_path: Path) -> None:
    report = await examine(settings_for(built(language, tmp_path)), reference=True)
    assert {verdict.rule.id: verdict.reason for verdict in report.verdicts if verdict.outcome != "pass"} == {}
    assert len(report.verdicts) == len(VECTORS)
    assert report.agent == f"reference-{language} (session and oneshot)"
