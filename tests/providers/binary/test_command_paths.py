"""Where the program of `[providers.NAME]` is looked for, and what its relative paths mean."""

import json
from pathlib import Path

import pytest

from claw_acp.config.settings import Settings
from claw_acp.providers.registry.profiles import provider_profiles
from claw_acp.providers.selection.setups import setup_of
from tests.config.support import Desk
from tests.providers.binary.support import provider_of, saying

WHERE = """#!/bin/sh
read -r line
printf '{"jsonrpc":"2.0","id":1,"result":{"content":"%s|%s|%s"}}\\n' "$0" "$1" "$PWD"
"""


def configured(root: Path, text: str) -> Settings:
    desk = Desk(root)
    desk.user_says(f'[providers.mine]\nkind = "binary"\nprotocol = "oneshot"\n{text}\n')
    return desk.settings()


async def said(settings: Settings) -> list[str]:
    program = setup_of(provider_profiles(settings)["mine"], key=None, settings=settings).program
    assert program is not None
    return (await provider_of(program).chat(saying("hi"))).text.split("|")


@pytest.mark.parametrize("command", ["./bin/plugin", "bin/plugin"])
@pytest.mark.parametrize("cwd", ["", 'cwd = "work"'])
async def test_a_command_with_a_slash_is_taken_from_the_directory_of_the_file(
    command: str, cwd: str, tmp_path: Path
) -> None:
    home = tmp_path / "home"
    (home / "bin").mkdir(parents=True)
    (home / "work").mkdir()
    (home / "bin" / "plugin").write_text(WHERE)
    (home / "bin" / "plugin").chmod(0o755)
    settings = configured(tmp_path, f'command = {json.dumps(command)}\nargs = ["data/words"]\n{cwd}')
    assert await said(settings) == [
        str(home / "bin" / "plugin"),
        "data/words",  # as any program has it: below the directory in which it runs
        str(home / "work") if cwd else str(Path.cwd()),
    ]


def test_a_command_without_a_slash_is_left_to_the_path(tmp_path: Path) -> None:
    assert configured(tmp_path, 'command = "plugin"').providers["mine"].command == "plugin"
