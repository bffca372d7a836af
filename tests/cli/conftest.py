from pathlib import Path

import pytest


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home directory of its own, and a working directory beside it."""
    for name in ("ANTHROPIC_API_KEY", "OPENAI_API_KEY", "OPENAI_BASE_URL", "ANTHROPIC_BASE_URL", "CLAW_ACP_MODEL"):
        monkeypatch.delenv(name, raising=False)
    place = tmp_path / "home"
    place.mkdir(mode=0o700)
    (tmp_path / "project").mkdir()
    monkeypatch.setenv("CLAW_ACP_HOME", str(place))
    monkeypatch.chdir(tmp_path / "project")
    return place
