"""Files that make other programs run commands: asked about in every mode, under every name they can be reached by."""

from pathlib import Path

import pytest

from claw_acp.security.policy import Mode, PolicyContext
from tests.security.conftest import House, rules

GUARDED = """
.git/config .git/hooks/pre-commit src/.GIT/hooks/x .Git\u200c/config .mcp.json sub/.mcp.json .claude/settings.json
.cursor/mcp.json .zed/settings.json .vscode/tasks.json .idea/x.xml .devcontainer/devcontainer.json .devcontainer.json
app.code-workspace APP.CODE-WORKSPACE .yarnrc .yarnrc.yml .yarn/releases/yarn.cjs .npmrc web/.npmrc .cargo/config
.cargo/config.toml rust-toolchain rust-toolchain.toml .venv/bin/pip .venv/lib/python3.12/site-packages/x.pth
venv/bin/python node_modules/.bin/eslint .tool-versions mise.toml .envrc .husky/pre-commit .pre-commit-config.yaml
.nvim.lua .exrc .dir-locals.el .gdbinit .bashrc .zshenv .profile .gitconfig .hg/hgrc new/HEAD new/head opencode.json
bare/config bare/hooks/post-checkout bare/info/attributes bare/new env2/bin/pip env2/lib/x.py link/config
src/../.mcp.json src/../bare/config .pnpmfile.cjs bunfig.toml .claw/config.toml lefthook-local.yml
.lefthook-local.yaml lefthook.json .simple-git-hooks.js .huskyrc.json .git-hooks/pre-commit prek.toml .overcommit/x
captainhook.json .hooks/x .rvmrc .autoenv.zsh .shadowenv.d/x.lisp devbox.json shell.nix bin/activate-hermit
.pdm-python mise.production.toml mise/config.toml .bazelrc tools/bazel .Rprofile .RData app.Rproj .ghci .ocamlinit
.iex.exs .pdbrc .vim/coc-settings.json .lazy.lua .ycm_extra_conf.py .luarc.json hie.yaml .bsp/x.json .vs/x .run/x.xml
x.sublime-project .settings/x .project .sl/config _darcs/prefs/defaults .hgrc .openhands/setup.sh .github/hooks/x.json
.copilot/x .clinerules/x.md .goose/x mcp.json
"""
ORDINARY = """
src/app.py README.md Makefile package.json conftest.py tests/conftest.py .github/workflows/ci.yml .gitignore
.gitattributes .gitmodules .env .editorconfig pyproject.toml Cargo.toml bin/run heads/x docs/header.md src/config
src/hooks/useThing.ts src/objects/a.py cargo/config.toml environment.yml tsconfig.json .prettierrc headers/HEAD.md
"""
LED_TO = """
.vscode/tasks.json conf/tasks.json conf web/.envrc src/envrc.txt tools/hooks/pre-commit tools/hooks team/gitconfig
team/later src/clean.sh src/aliased bin/git src/tools/ls
"""
BESIDE = "src/app.py tools/x team/readme web/index.html bin/data/x refs/heads/src"
AT_HOME = """
.bashrc .config/fish/config.fish .config/autostart/x.desktop .config/git/config .local/bin/ls .emacs .forward
.pam_environment Library/LaunchAgents/x.plist bin/ls
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


@pytest.fixture(scope="module")
def wired(tmp_path_factory: pytest.TempPathFactory) -> House:
    """A project in which links, git's settings and PATH lead to files of any name."""
    base = tmp_path_factory.mktemp("wired").resolve()
    root = base / "project"
    for folder in ("conf", "tools/hooks", "team", "bin", "src", ".git", "web", "home"):
        (root / folder).mkdir(parents=True)
    (root / ".vscode").symlink_to("conf")
    (root / "web" / ".envrc").symlink_to("../src/envrc.txt")
    (root / ".git" / "config").write_text(
        "[core]\n\thooksPath = tools/hooks ; ours\n\tbare = false\n[include]\n\tpath = ../team/gitconfig\n"
        '[includeIf "onbranch:main"]\npath = ../team/later\n[filter "x"] clean = sh src/clean.sh %f\n'
        '[branch "main"]\n\tremote = web\n\tmerge = refs/heads/src\n'
    )
    (root / "team" / "gitconfig").write_text('[alias]\n\tx = "!./src/aliased --quiet"\n')
    house = House(root=root, home=base / "home", state=base / "state")
    search_path = (Path("/usr/bin"), root / "bin", Path("src/tools"))
    context = PolicyContext(roots=(root,), home=house.home, search_path=search_path)
    object.__setattr__(house, "context", context)
    return house


@pytest.mark.parametrize(
    "path",
    LED_TO.split(),
)
def test_what_links_settings_and_the_search_path_lead_to_is_asked_about_too(wired: House, path: str) -> None:
    assert _written(wired, path, "edit") == "ask"
    assert wired.run(f"cp README.md '{path}'", mode="auto").verdict == "ask"


@pytest.mark.parametrize("path", BESIDE.split())
def test_what_lies_beside_that_is_edited_without_a_question(wired: House, path: str) -> None:
    assert _written(wired, path, "edit") == "allow"


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


@pytest.mark.parametrize(
    "path",
    AT_HOME.split(),
)
def test_a_project_that_is_the_home_directory_keeps_what_programs_read_when_they_start(place: House, path: str) -> None:
    at_home = House(root=place.home, home=place.home, state=place.state)
    assert at_home.write(path, mode="edit").verdict == "ask"
    assert at_home.write("work/.github/workflows/x.yml", mode="edit").verdict == "allow"


def test_a_rule_that_spells_out_a_guarded_place_opens_it(place: House) -> None:
    assert place.write(".vscode/tasks.json", given=rules(allow=["write(.vscode/**)"])).verdict == "allow"
    assert place.write(".vscode/tasks.json", given=rules(allow=["write(**)"])).verdict == "ask"
