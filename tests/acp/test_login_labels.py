"""How the providers are told apart on the page and in the form for logging in."""

from pathlib import Path

from claw_acp.acp.login import labels
from claw_acp.config.load import load_settings
from claw_acp.config.locations import find_locations
from claw_acp.providers.registry.profiles import provider_profiles


def test_no_two_providers_have_the_same_label(tmp_path: Path) -> None:
    (tmp_path / "config.toml").write_text('[providers.Zhipu]\nkind = "openai"\nbase_url = "http://127.0.0.1:9/v1"\n')
    settings = load_settings(locations=find_locations({"CLAW_ACP_HOME": str(tmp_path)}), environ={}, cwd=None)
    shown = labels([profile for profile in provider_profiles(settings).values() if profile.takes_login])
    assert len(set(shown.values())) == len(shown) > 50
    assert shown["anthropic"] == "Anthropic"
    assert shown["zai-coding"] == "Zhipu: zai-coding (api.z.ai)"
    assert shown["Zhipu"] == "Zhipu: Zhipu (127.0.0.1)"
