"""Keys kept by logging in: where they go, who may read them, and how they are forgotten."""

import json
import threading
from functools import partial
from pathlib import Path

import keyring
import pytest
from keyring.backends import null

from claw_acp.config import credential_store
from claw_acp.config.credential_store import CredentialStore, default_store
from claw_acp.config.credentials import PASSPHRASE
from claw_acp.config.key_reference import KeyReference
from claw_acp.config.provider_section import ProviderSection
from claw_acp.config.secret_cache import SecretCache
from claw_acp.core.errors import ConfigError
from claw_acp.core.secret import Secret
from claw_acp.core.value import replace
from tests.config.support import Desk, texts, write
from tests.support.file_keyring import FileKeyring

KEY = "sk-ant-hush-0123456789"


@pytest.fixture(autouse=True)
def no_keyring() -> None:
    keyring.set_keyring(null.Keyring())


@pytest.fixture
def safe(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A keyring that works."""
    file = tmp_path / "keyring.json"
    monkeypatch.setenv("KEYRING_FILE", str(file))
    keyring.set_keyring(FileKeyring())
    return file


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    (tmp_path / "home").mkdir(mode=0o700)
    return Desk(tmp_path)


def store(desk: Desk) -> CredentialStore:
    return CredentialStore(desk.locations, {})


def entries(safe: Path) -> dict[str, str]:
    return json.loads(safe.read_text())


def test_the_file_is_for_its_owner_alone(desk: Desk) -> None:
    store(desk).keep("anthropic", Secret(KEY), store="plain")
    file = desk.locations.credentials_file
    assert file.stat().st_mode & 0o777 == 0o600
    login = desk.settings().logins["anthropic"]
    assert login.reference == KeyReference(kind="text", secret=Secret(KEY))
    assert login.source == f"login ({file}:3)"
    assert [path.name for path in file.parent.iterdir()] == [".credentials.toml.lock", "credentials.toml"]


def test_with_a_keyring_the_file_only_says_that_the_key_is_there(desk: Desk, safe: Path) -> None:
    store(desk).keep("anthropic", Secret(KEY), store="keyring")
    assert KEY not in desk.locations.credentials_file.read_text()
    assert entries(safe) == {"claw-acp/anthropic": KEY}
    settings = desk.settings()
    login = settings.logins["anthropic"]
    assert login.source == "login (the system keyring)"
    assert login.reference is not None
    assert SecretCache().fetch(login.reference, {}) == Secret(KEY)


def test_a_home_of_its_own_has_entries_of_its_own_in_the_keyring(desk: Desk, safe: Path) -> None:
    store(desk).keep("anthropic", Secret(KEY), store="keyring")
    special = CredentialStore(desk.locations, {"CLAW_ACP_HOME": str(desk.root)})
    special.keep("openai", Secret("sk-other"), store="keyring")
    assert [name.partition("@")[0] for name in entries(safe)] == ["claw-acp/anthropic", "claw-acp/openai"]
    assert "@" in list(entries(safe))[1]


@pytest.mark.parametrize("mood", ["locked", "hangs"])
def test_a_keyring_that_does_not_take_a_key_is_told_of_and_nothing_else_is_taken_instead(
    desk: Desk, safe: Path, monkeypatch: pytest.MonkeyPatch, mood: str
) -> None:
    monkeypatch.setenv("KEYRING_MOOD", mood)
    monkeypatch.setattr(credential_store, "KEYRING_TIMEOUT", 0.05 if mood == "hangs" else 5.0)
    with pytest.raises(ConfigError, match="nlock it and try again"):
        store(desk).keep("anthropic", Secret(KEY), store="keyring")
    assert not desk.locations.credentials_file.exists()


def test_without_a_keyring_a_named_passphrase_encrypts(desk: Desk) -> None:
    environ = {PASSPHRASE: "right horse"}
    assert (default_store(environ), default_store({})) == ("encrypted", "plain")
    CredentialStore(desk.locations, environ).keep("anthropic", Secret(KEY), store="encrypted")
    login = desk.settings().logins["anthropic"]
    assert login.reference is not None
    assert SecretCache().fetch(login.reference, environ) == Secret(KEY)


def test_an_encrypted_key_is_opened_by_its_passphrase_alone(desk: Desk) -> None:
    store(desk).keep("anthropic", Secret(KEY), store="encrypted", passphrase=Secret("right horse"))
    assert KEY not in desk.locations.credentials_file.read_text()
    login = desk.settings().logins["anthropic"]
    assert login.reference is not None
    assert login.source == f"login ({desk.locations.credentials_file}:3, encrypted)"
    phrase = {PASSPHRASE: "command:printf 'right horse'"}
    assert SecretCache().fetch(login.reference, phrase) == Secret(KEY)
    for environ, told in (({PASSPHRASE: "wrong horse"}, "does not open"), ({}, "is not set")):
        with pytest.raises(ConfigError, match=told):
            SecretCache().fetch(login.reference, environ)
    changed = replace(login.reference, target=login.reference.target[:-6] + "AAAA==")
    with pytest.raises(ConfigError, match="the file was changed"):
        SecretCache().fetch(changed, phrase)
    greedy = replace(login.reference, target=login.reference.target.replace("scrypt-16", "scrypt-30"))
    with pytest.raises(ConfigError, match="cannot be read"):
        SecretCache().fetch(greedy, phrase)


def test_logging_in_again_replaces_the_key_wherever_it_was(desk: Desk, safe: Path) -> None:
    store(desk).keep("anthropic", Secret(KEY), store="keyring")
    store(desk).keep("anthropic", Secret("sk-ant-new"), store="plain")
    assert entries(safe) == {}
    assert desk.settings().logins["anthropic"].reference == KeyReference(kind="text", secret=Secret("sk-ant-new"))


def test_logins_made_at_the_same_time_are_all_kept(desk: Desk) -> None:
    names = [f"service{number}" for number in range(8)]
    keep = partial(store(desk).keep, store="plain")
    threads = [threading.Thread(target=keep, args=(name, Secret(f"key-{name}"))) for name in names]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(desk.settings().logins) == names


def test_a_service_of_ones_own_is_described_with_its_key(desk: Desk) -> None:
    section = ProviderSection(kind="openai", base_url="http://127.0.0.1:1/v1", models=("qwen", 'q"\\\x7fé'))
    store(desk).keep("my.own-1", Secret(KEY), store="plain", section=section)
    settings = desk.settings()
    kept = settings.providers["my.own-1"]
    assert (kept.kind, kept.base_url, kept.models) == (section.kind, section.base_url, section.models)
    assert settings.origin("providers.my.own-1.base_url").text() == f"login {desk.locations.credentials_file}:3"
    desk.user_says('[providers."my.own-1"]\nbase_url = "http://127.0.0.1:2/v1"\n')
    settings = desk.settings()
    assert settings.providers["my.own-1"].base_url == "http://127.0.0.1:2/v1"
    assert settings.providers["my.own-1"].kind == "openai"


def test_a_service_that_needs_no_key_can_be_kept_too(desk: Desk) -> None:
    store(desk).keep(
        "local", None, store="plain", section=ProviderSection(kind="openai", base_url="http://127.0.0.1:1/v1")
    )
    assert desk.settings().logins["local"].reference is None
    assert desk.settings().diagnostics == ()


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o666])
def test_a_file_that_others_can_read_is_not_used_and_not_written(desk: Desk, mode: int) -> None:
    store(desk).keep("anthropic", Secret(KEY), store="plain")
    file = desk.locations.credentials_file
    file.chmod(mode)
    settings = desk.settings()
    assert settings.logins == {}
    assert texts(settings) == [
        f"credentials.toml: can be read by others, so its keys are not used; run: chmod 600 '{file}'".replace(
            f"{file.parent}/", ""
        )
    ]
    with pytest.raises(ConfigError, match="can be read by others"):
        store(desk).keep("openai", Secret("sk-x"), store="plain")
    assert store(desk).forget_all() == ["anthropic"]
    assert not file.exists()


def test_a_link_to_the_file_stays_one(desk: Desk, tmp_path: Path) -> None:
    real = tmp_path / "elsewhere" / "keys.toml"
    real.parent.mkdir()
    desk.locations.credentials_file.symlink_to(real)
    store(desk).keep("anthropic", Secret(KEY), store="plain")
    assert desk.locations.credentials_file.is_symlink()
    assert KEY in real.read_text()


@pytest.mark.parametrize(
    ("text", "finding"),
    [
        ("anthropic = 3\n", "credentials.toml:1: anthropic: must be a table with a key; it is ignored"),
        ("[anthropic]\n", "credentials.toml:1: anthropic: holds no key; it is ignored"),
        ('[anthropic]\nkey = ["sk-ant-hush"]\n', "credentials.toml:1: anthropic: holds no key; it is ignored"),
        ('["../x"]\nkey = "k"\n', "credentials.toml:1: ../x: a provider's name is made of letters"),
        ('[own]\nbase_url = "ftp://x"\n', "credentials.toml:1: own: base_url has a wrong value; it is ignored"),
        ("[own\n", "credentials.toml:1:5: not TOML"),
    ],
)
def test_what_is_wrong_in_the_file_is_told_without_any_key(desk: Desk, text: str, finding: str) -> None:
    file = desk.locations.credentials_file
    write(file, text)
    file.chmod(0o600)
    (found,) = texts(desk.settings())
    assert found.startswith(finding)
    assert "hush" not in found
    with pytest.raises(ConfigError, match="Mend or remove the file"):
        store(desk).keep("openai", Secret("sk-x"), store="plain")
    assert file.read_text() == text


def test_one_login_is_forgotten_and_the_others_stay(desk: Desk, safe: Path) -> None:
    store(desk).keep("anthropic", Secret(KEY), store="keyring")
    store(desk).keep("openai", Secret("sk-x"), store="plain")
    assert store(desk).forget("anthropic") is True
    assert store(desk).forget("anthropic") is False
    assert entries(safe) == {}
    assert list(desk.settings().logins) == ["openai"]
    assert store(desk).forget_all() == ["openai"]
    assert store(desk).forget_all() == []
    assert not desk.locations.credentials_file.exists()


def test_a_keyring_that_keeps_its_entry_is_told_and_the_file_is_clean(
    desk: Desk, safe: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store(desk).keep("anthropic", Secret(KEY), store="keyring")
    monkeypatch.setenv("KEYRING_MOOD", "locked")
    with pytest.raises(ConfigError, match="cannot be removed from the system keyring: the collection is locked"):
        store(desk).forget_all()
    assert desk.settings().logins == {}


def test_a_file_that_is_a_directory_is_named_and_nothing_stays_in_the_keyring(desk: Desk, safe: Path) -> None:
    write(safe, "{}")
    desk.locations.credentials_file.mkdir(mode=0o700)
    with pytest.raises(ConfigError):
        store(desk).keep("anthropic", Secret(KEY), store="keyring")
    assert entries(safe) == {}
