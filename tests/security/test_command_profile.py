"""What commands of a project may change, and what they never may."""

from pathlib import Path

import pytest

from claw_acp.contracts.sandbox import SandboxProfile
from claw_acp.contracts.tool import Reach
from claw_acp.security.command_paths import PolicyContext
from claw_acp.security.command_profile import MOST_ENTRIES, MOST_GUARDED, ExtraPaths, command_profile
from claw_acp.security.forbidden import forbidden, forbidden_places
from tests.support.ordinary_user import ordinary_user

NONE = ExtraPaths()


def profile(*roots: Path, home: Path, reach: Reach = "project", extra: ExtraPaths = NONE) -> SandboxProfile:
    context = PolicyContext(roots=roots, home=home, protected=(home / "claw",), commands="sandboxed")
    return command_profile(reach, context=context, extra=extra)


def make(folder: Path, *names: str) -> Path:
    """Files in a folder; a name that ends with a slash is a directory."""
    for name in names:
        path = folder / name
        if name.endswith("/"):
            path.mkdir(parents=True, exist_ok=True)
        else:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text("")
    return folder


def guarded(found: SandboxProfile, root: Path) -> set[str]:
    return {path.relative_to(root).as_posix() for path in found.read_only if path.is_relative_to(root)}


GIT = {".git/hooks", ".git/config", ".git/config.worktree", ".git/commondir"}


def test_what_other_programs_take_commands_from_is_guarded_and_what_tools_write_is_not(tmp_path: Path) -> None:
    project = make(tmp_path / "p", ".git/HEAD", ".git/objects/", ".git/refs/", ".git/config", ".vscode/", ".mcp.json",
                   ".envrc", "src/.idea/", "tools/bazel", "bazel", "node_modules/.vscode/", ".venv/bin/python",
                   "Makefile")  # fmt: skip
    found = profile(project, home=tmp_path / "home")
    assert found.writable == (project,)
    assert guarded(found, project) == {*GIT, ".vscode", ".mcp.json", ".envrc", "src/.idea", "tools/bazel"}


def test_repositories_inside_and_submodules_are_guarded(tmp_path: Path) -> None:
    project = make(tmp_path / "p", "a/b/c/d/.git/HEAD", ".git/HEAD", ".git/objects/", ".git/refs/",
                   *(f".git/modules/a/b/c/m/{name}" for name in ("HEAD", "objects/", "refs/")))  # fmt: skip
    found = guarded(profile(project, home=tmp_path / "home"), project)
    assert {f"a/b/c/d/{name}" for name in GIT} <= found
    assert {".git/modules/a/b/c/m/hooks", ".git/modules/a/b/c/m/config"} <= found


def test_the_repository_of_a_worktree_can_be_written_if_it_knows_that_worktree(tmp_path: Path) -> None:
    main = make(tmp_path / "main", ".git/HEAD", ".git/objects/", ".git/refs/", ".git/worktrees/w/HEAD")
    own = main / ".git/worktrees/w"
    (own / "commondir").write_text("../..\n")
    (tmp_path / "w").mkdir()
    (tmp_path / "w/.git").write_text(f"gitdir: {own}\n")
    assert profile(tmp_path / "w", home=tmp_path / "home").writable == (tmp_path / "w",)
    (own / "gitdir").write_text(f"{tmp_path / 'w/.git'}\n")
    found = profile(tmp_path / "w", home=tmp_path / "home")
    assert found.writable == (tmp_path / "w", main / ".git")
    assert {main / ".git/hooks", main / ".git/config", own / "commondir"} <= set(found.read_only)


@pytest.mark.parametrize("reach", ["reading", "project", "network"])
def test_credentials_and_our_own_files_cannot_be_read_wherever_the_project_is(tmp_path: Path, reach: Reach) -> None:
    home = make(tmp_path / "home", ".ssh/id_x", ".aws/credentials", ".netrc", "claw/config.toml", "other",
                ".bash_history", ".config/rclone/rclone.conf", ".claude/.credentials.json", "snap/firefox/key4.db",
                "Library/Application Support/Firefox/key4.db")  # fmt: skip
    found = profile(home, home=home, reach=reach)
    wanted = (".ssh", ".aws", ".netrc", "claw", ".bash_history", ".config/rclone", ".claude/.credentials.json",
              "snap/firefox", "Library/Application Support/Firefox")  # fmt: skip
    assert {home / place for place in wanted} <= set(found.unreadable)


def test_a_home_that_is_a_project_keeps_what_programs_start_with(tmp_path: Path) -> None:
    home = make(tmp_path / "home", ".bashrc", ".config/autostart/x", ".cache/x", "bin/ls", "project/file")
    assert guarded(profile(home, home=home), home) == {".bashrc", ".config", "bin"}


def test_the_whole_disk_is_no_project(tmp_path: Path) -> None:
    assert profile(Path("/"), home=tmp_path).writable == ()


def test_what_only_reads_can_write_nothing_and_sees_what_it_was_named(tmp_path: Path) -> None:
    extra = ExtraPaths(readable=(Path("/tmp/x"),), writable=(tmp_path,))
    found = profile(tmp_path, home=tmp_path / "home", reach="reading", extra=extra)
    assert (found.writable, found.network) == ((), "none")
    assert {tmp_path, Path("/tmp/x")} <= set(found.read_only)


def test_a_worktree_that_was_made_up_opens_no_other_repository(tmp_path: Path) -> None:
    other = make(tmp_path / "other", ".git/HEAD", ".git/objects/", ".git/refs/", ".git/worktrees/w/HEAD")
    project = make(tmp_path / "p", "fake/HEAD", "x/worktrees/fake/HEAD")
    for folder, common in (
        ("fake", other / ".git"),
        ("x/worktrees/fake", other / ".git"),
        ("x/worktrees/fake", "../.."),
    ):
        (project / folder / "gitdir").write_text(f"{project / '.git'}\n")
        (project / folder / "commondir").write_text(f"{common}\n")
        (project / ".git").write_text(f"gitdir: {folder}\n")
        assert profile(project, home=tmp_path / "home").writable == (project,)


def test_nothing_is_lost_among_thousands_of_files(tmp_path: Path) -> None:
    project = make(tmp_path / "p", "a/.git/HEAD", ".git/HEAD", ".vscode/")
    wanted = {*GIT, ".vscode", *(f"a/{name}" for name in GIT)}
    assert wanted <= guarded(profile(project, home=tmp_path / "home"), project)
    many = [f"m{number}/" for number in range(MOST_ENTRIES)]
    make(project, *many, *(f"a/{name}" for name in many), "z.code-workspace", ".mcp.json")
    found = guarded(profile(project, home=tmp_path / "home"), project)
    assert wanted | {"z.code-workspace", ".mcp.json"} <= found


def test_what_was_protected_is_not_pushed_out_by_other_names(tmp_path: Path) -> None:
    project = make(tmp_path / "p", ".git/HEAD", ".envrc")
    wanted = {*GIT, ".envrc"}
    assert wanted <= guarded(profile(project, home=tmp_path / "home"), project)
    make(project, *(f"{number}.code-workspace" for number in range(2 * MOST_GUARDED)))
    assert wanted <= guarded(profile(project, home=tmp_path / "home"), project)


def test_what_the_settings_of_git_lead_to_in_the_project_is_guarded(tmp_path: Path) -> None:
    project = make(tmp_path / "p", ".git/HEAD", "tools/git/", "more", "monitor", "settings", "script", "src/")
    (project / "script").chmod(0o755)
    settings = "[core]\n hooksPath = tools/git\n fsmonitor = ./monitor --fast\n[include]\n path = ../more\n"
    (project / ".git" / "config").write_text(settings)
    (project / "more").write_text('[alias]\n s = "!./script settings src"\n')
    found = guarded(profile(project, home=tmp_path / "home"), project)
    assert found == {*GIT, "tools/git", "more", "monitor", "script"}


@pytest.mark.parametrize(
    ("variable", "value", "place"),
    [
        ("KUBECONFIG", "{}/a:{}/clusters/b", "clusters/b"),
        ("GNUPGHOME", "{}/keys", "keys/private.key"),
        ("XDG_CONFIG_HOME", "{}/conf", "conf/gh/hosts.yml"),
        ("AWS_SHARED_CREDENTIALS_FILE", "{}/cloud", "cloud"),
        ("DOCKER_CONFIG", "{}/docker", "docker/config.json"),
        ("CARGO_HOME", "{}/cargo", "cargo/credentials.toml"),
        ("GOOGLE_APPLICATION_CREDENTIALS", "{}/link", "target.json"),
        ("NPM_CONFIG_USERCONFIG", "{}/rc", "rc"),
    ],
)
def test_credentials_that_a_variable_moved_are_hidden_where_they_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, variable: str, value: str, place: str
) -> None:
    home = make(tmp_path / "home")
    moved = make(tmp_path / "moved", place, "other")
    (moved / "link").symlink_to("target.json")
    monkeypatch.setenv(variable, value.replace("{}", str(moved)))
    assert forbidden(moved / place, home=home)
    assert not forbidden(moved / "other", home=home)
    assert any((moved / place).is_relative_to(hidden) for hidden in forbidden_places(home=home))


def test_a_variable_may_name_a_place_that_the_user_cannot_look_into(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home, closed = make(tmp_path / "home", "a"), make(tmp_path / "closed", "rc")
    monkeypatch.setenv("NPM_CONFIG_USERCONFIG", str(closed / "rc"))
    with ordinary_user(tmp_path):
        closed.chmod(0)
        assert not any(place.is_relative_to(tmp_path) for place in forbidden_places(home=home))
        closed.chmod(0o700)


@pytest.mark.parametrize("value", ["/", "/dev/null", "{}", ""])
def test_a_variable_hides_no_whole_home_and_no_device(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, value: str
) -> None:
    home = make(tmp_path / "home", "src/main.py")
    monkeypatch.setenv("GNUPGHOME", value.format(home))
    monkeypatch.setenv("HISTFILE", value.format(home))
    assert not forbidden(home / "src/main.py", home=home)
    assert not forbidden(Path("/dev/null"), home=home)
