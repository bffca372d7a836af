"""Files that make other programs run commands: asked about in every mode, under every name they can be reached by."""

import pytest

from claw_acp.security.policy import Mode
from tests.security.conftest import House, rules

GUARDED = """
.git/config .git/hooks/pre-commit src/.GIT/hooks/x .Git\u200c/config .mcp.json sub/.mcp.json .claude/settings.json
.cursor/mcp.json .zed/settings.json .vscode/tasks.json .idea/x.xml .devcontainer/devcontainer.json .devcontainer.json
app.code-workspace APP.CODE-WORKSPACE .yarnrc .yarnrc.yml .yarn/releases/yarn.cjs .npmrc web/.npmrc .cargo/config
.cargo/config.toml rust-toolchain rust-toolchain.toml .venv/bin/pip .venv/lib/python3.12/site-packages/x.pth
venv/bin/python node_modules/.bin/eslint .tool-versions mise.toml .envrc .husky/pre-commit .pre-commit-config.yaml
.nvim.lua .exrc .dir-locals.el .gdbinit .bashrc .zshenv .profile .gitconfig .hg/hgrc new/HEAD new/head opencode.json
bare/config bare/hooks/post-checkout bare/info/attributes bare/new env2/bin/pip env2/lib/x.py link/config
src/../.mcp.json src/../bare/config .pnpmfile.cjs bunfig.toml .claw/config.toml
"""
ORDINARY = """
src/app.py README.md Makefile package.json conftest.py tests/conftest.py .github/workflows/ci.yml .gitignore
.gitattributes .gitmodules .env .editorconfig pyproject.toml Cargo.toml bin/run heads/x docs/header.md src/config
src/hooks/useThing.ts src/objects/a.py cargo/config.toml environment.yml tsconfig.json .prettierrc headers/HEAD.md
"""


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> House:
    """A project with a bare repository and an environment under names of their own."""
    base = tmp_path_factory.mktemp("guarded").resolve()
    root = base / "project"
    for folder in ("src", "bare/objects", "bare/refs", "env2/bin"):
        (root / folder).mkdir(parents=True)
    (root / "bare" / "HEAD").write_text("ref: refs/heads/main\n")
    (root / "env2" / "pyvenv.cfg").write_text("home = /usr/bin\n")
    (root / "link").symlink_to(root / "bare")
    return House(root=root, home=base / "home", state=base / "state")


def _written(place: House, path: str, mode: Mode) -> str:
    return place.write(str((place.root / path).resolve()), mode=mode).verdict


@pytest.mark.parametrize("path", GUARDED.split())
def test_what_makes_programs_run_commands_is_asked_about_in_every_mode(place: House, path: str) -> None:
    assert [_written(place, path, mode) for mode in ("plan", "ask", "edit", "auto")] == ["deny", "ask", "ask", "ask"]
    assert place.run(f"cp src/x '{path}'", mode="auto").verdict == "ask"
    assert not place.write(str((place.root / path).resolve())).remember


@pytest.mark.parametrize("path", ORDINARY.split())
def test_ordinary_files_are_edited_without_a_question(place: House, path: str) -> None:
    assert _written(place, path, "edit") == "allow"


def test_a_project_that_is_the_home_directory_keeps_its_start_up_files(place: House) -> None:
    at_home = House(root=place.home, home=place.home, state=place.state)
    assert at_home.write(".bashrc", mode="edit").verdict == "ask"


def test_a_rule_that_spells_out_a_guarded_place_opens_it(place: House) -> None:
    assert place.write(".vscode/tasks.json", given=rules(allow=["write(.vscode/**)"])).verdict == "allow"
    assert place.write(".vscode/tasks.json", given=rules(allow=["write(**)"])).verdict == "ask"
