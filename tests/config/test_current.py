import os
from pathlib import Path

from claw_acp.config.current import CurrentSettings
from claw_acp.config.discovered_models import DiscoveredModels
from claw_acp.config.key_reference import KeyReference
from claw_acp.config.locations import find_locations


def _source(home: Path) -> CurrentSettings:
    environ = {"CLAW_ACP_HOME": str(home)}
    return CurrentSettings(locations=find_locations(environ), environ=environ)


def test_settings_are_made_once_while_no_file_changes(tmp_path: Path) -> None:
    source = _source(tmp_path)
    assert source.for_folder(tmp_path) is source.for_folder(tmp_path)


def test_a_changed_file_counts_at_once_also_when_its_size_stays(tmp_path: Path) -> None:
    source = _source(tmp_path)
    config = tmp_path / "config.toml"
    assert source.for_folder(None).mode == "ask"
    config.write_text('mode = "edit"\n')
    assert source.for_folder(None).mode == "edit"
    config.write_text('mode = "plan"\n')
    os.utime(config, ns=(1, 1))
    assert source.for_folder(None).mode == "plan"
    config.unlink()
    assert source.for_folder(None).mode == "ask"


def test_folders_have_their_own_settings(tmp_path: Path) -> None:
    source = _source(tmp_path / "home")
    (tmp_path / "strict" / ".claw").mkdir(parents=True)
    (tmp_path / "strict" / ".claw" / "config.toml").write_text('mode = "plan"\n')
    assert source.for_folder(tmp_path / "strict").mode == "plan"
    assert source.for_folder(tmp_path).mode == "ask"


def test_settings_stay_the_same_value_when_models_were_discovered(tmp_path: Path) -> None:
    source = _source(tmp_path)
    source.learn(DiscoveredModels(blind=frozenset({("work", "http://x", "m")})))
    settings = source.for_folder(tmp_path)
    assert settings.discovered is source.discovered
    assert source.for_folder(tmp_path) is settings
    source.override("work", None)
    assert source.for_folder(tmp_path) is not settings
    assert source.for_folder(tmp_path) is source.for_folder(tmp_path)


def test_a_key_that_was_read_is_in_the_settings_from_then_on(tmp_path: Path) -> None:
    source, reference = _source(tmp_path), KeyReference.parse("command:echo sk-1")
    before = source.for_folder(None)
    key = source.secrets.fetch(reference, os.environ)
    assert (before.secrets, source.for_folder(None).secrets) == ({}, {reference: key})
    assert source.for_folder(None) is source.for_folder(None)
    source.forget()
    assert source.for_folder(None).secrets == {}
