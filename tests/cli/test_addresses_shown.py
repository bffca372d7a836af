"""Logins and keys that people write into addresses are not shown by the commands that inspect."""

from pathlib import Path

import pytest

from claw_acp.cli.main import main

CONFIG = """\
[providers.work]
kind = "openai"
base_url = "http://user:s3cretpw99@127.0.0.1:8080/v1?api-key=QUERYSECRET123"
proxy = "http://me:proxypass77@127.0.0.1:9"
models = ["qwen"]
"""


@pytest.mark.parametrize(
    "command",
    [
        ["config", "show"],
        ["config", "show", "--json"],
        ["providers", "list"],
        ["providers", "list", "work", "--json"],
        ["doctor"],
        ["providers", "test", "work"],
    ],
    ids=" ".join,
)
def test_what_an_address_holds_is_not_shown(command: list[str], home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (home / "config.toml").write_text(CONFIG)
    main(command)
    shown = "".join(capsys.readouterr())
    assert "work" in shown
    assert not any(secret in shown for secret in ("s3cretpw99", "QUERYSECRET123", "proxypass77"))
