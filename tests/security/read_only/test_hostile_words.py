"""Lines that once ran unasked, or kept the policy busy: each class was seen to do harm."""

import struct
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from claw_acp.contracts.tool import RunsCommand
from claw_acp.security.policy import Policy, PolicyContext
from tests.security.conftest import House, rules

MAY_DO_MORE = [
    # a name that is handed over becomes a program, a line, an option's value
    "find ls -type f -exec {} \\;",
    "find ls -type f -exec env {} \\;",
    "find ls -type f -exec timeout 5 {} \\;",
    "find ls -type f -exec bash -c {} \\;",
    "find src -maxdepth 1 -exec git -C {} diff \\;",
    "find src -maxdepth 1 | xargs -I{} git -C {} diff",
    "find src -type f | xargs sed -n",
    "find src -type f | xargs -n 2 uniq",
    "find src -type f | xargs -d Z -n 2 sort",
    # what limits the names stands behind what is done with them, or is none
    "find . -exec cat {} \\; -type f",
    "find . -exec echo -type f \\; -exec cat {} \\;",
    "find . -print -name zzz | xargs sort",
    "find . -path -name -o -print | xargs sort",
    # listers that print other things than names
    "rg -l --json x | xargs cat",
    "rg -l -c x | xargs cat",
    "rg --files -g '.d/**' | xargs cat",
    # patterns in which a mark is a letter
    'awk \'/[/"]*/{print>"PWNED"}#"\' README.md',
    'awk \'{ print length /"/ > "PWNED" }#"\' README.md',
    'awk \'{ x++ /"/; print 1 > "PWNED" }#"\' README.md',
    'awk \'{ print 1 ? 2 :\n"x" > "PWNED" }\' README.md',
    'awk \'{ if (x) /"/ ; print > "PWNED" }#"\' README.md',
    'awk \'{ switch ("") { case /"/ : break; default: print 1 > "PWNED" } } #" }}\' README.md',
    "sed 's/[/]*/p;s,/w PWNED,,' README.md",
    "sed '/[/]*/w PWNED' README.md",
    # an option in the place of a value that may be left out
    "git diff -U --output=PWNED",
    "git diff --unified --output=PWNED",
    "git log --min-parents --output=PWNED",
    "git blame --abbrev --contents=/etc/passwd README.md",
    "git branch --abbrev new",
    # the second operand is written
    "xxd README.md -p",
    "uniq README.md -c",
    # text of the environment
    'echo "$MYSQL_PWD"',
    'echo "$DATABASE_URL" | rev',
    # other shells read it in another way
    "sh -c 'cat {a,b}'",
]
COSTLY = {
    "lists in braces": "ls " + "{a,b}" * 24,
    "ranges in braces": "ls " + "{1..32}" * 6,
    "sed's blanks": "sed -n '/a/" + " " * 3_000 + ",x' f",
    "sed's numbers": "sed -n '1<" + "0" * 3_000 + "k' f",
    "redirections": "ls " + ">a " * 4_000,
    "runs of find": "find " + "a " * 1_500 + "-exec cat {} + " * 300,
    "slashes of awk": "awk '" + "1)/" * 5_000 + "'",
    "digits of printf": "printf '%" + "0" * 16_000 + "!' x",
    "wrappers": "env " * 4_000 + "ls",
    "substitutions": 'echo "$(ls)" ' * 1_000,
    "wildcards": "ls " + "* " * 4_000,
}


@pytest.mark.parametrize("line", MAY_DO_MORE)
def test_it_is_refused_in_plan_mode_and_asked_about_otherwise(house: House, line: str) -> None:
    assert [house.run(line, mode=mode).verdict for mode in ("plan", "ask", "edit")] == ["deny", "ask", "ask"]


@pytest.mark.parametrize("kind", COSTLY)
def test_a_costly_line_is_asked_about_without_much_work(house: House, kind: str) -> None:
    begin = time.process_time()
    assert house.run(COSTLY[kind]).verdict in {"ask", "deny"}
    assert time.process_time() - begin < 5  # seconds; before, it was minutes or for ever


def decide(line: str, root: Path) -> str:
    access = RunsCommand(line=line, cwd=root)
    context = PolicyContext(roots=(root,), home=Path("/nonexistent"))
    return Policy().decide(tool="shell", accesses=[access], mode="edit", context=context).verdict


def test_going_back_from_a_link_is_not_followed(tmp_path: Path) -> None:
    root = tmp_path / "project"
    (root / "a" / "b" / "c").mkdir(parents=True)
    (root / "link").symlink_to("a/b/c")
    for line in ("cd link && cd .. && cat ../other", "cd link/.. && cat ../other"):
        assert decide(line, root) == "ask"


def test_links_around_a_directory_are_walked_only_so_far(tmp_path: Path) -> None:
    for number in range(10):
        (tmp_path / f"l{number}").symlink_to(".")
    begin = time.process_time()
    assert decide("ls */*/*/*/*/*/*/*/zz", tmp_path) == "ask"
    assert time.process_time() - begin < 5


def _repository(root: Path) -> None:
    subprocess.run(["git", "init", "-q", str(root)], check=True)


def test_repositories_inside_one_another_are_looked_at_once(tmp_path: Path) -> None:
    root = tmp_path / "project"
    _repository(root)
    for name in ("s1", "s2"):
        (root / name).mkdir()
        (root / name / ".git").write_text("gitdir: ../.git\n")
        for other in ("s1", "s2"):
            (root / name / other).symlink_to(".")
        entry = f"160000 {'1' * 40} 0\t{name}\n"
        subprocess.run(["git", "update-index", "--index-info"], cwd=root, input=entry, text=True, check=True)
    begin = time.process_time()
    assert decide("git status", root) == "ask"
    assert time.process_time() - begin < 5


def _hidden_by_an_empty_one(root: Path) -> str:
    with (root / ".git" / "config").open("a") as config:
        config.write("[diff]\n\texternal = ./evil\n")
    (root / "src" / ".git").mkdir()
    return "git -C src diff"


def _with_a_carriage_return(root: Path) -> str:
    (root / ".git" / "config").write_bytes(b"[diff]\n\t# x\r[http]\n\texternal = ./evil\n")
    return "git diff"


def _elsewhere(root: Path) -> str:
    (root / "src" / ".git").write_text("gitdir: ../../other/.git\n")
    return "git -C src log"


def _unfolded(root: Path) -> str:
    index = struct.pack(">4sII", b"DIRC", 2, 1) + bytes(24) + struct.pack(">I", 0o040000) + bytes(32)
    (root / ".git" / "index").write_bytes(index + struct.pack(">H", 2) + b"d/" + bytes(8))  # a sparse one
    return "git status"


def _none_to_git(root: Path) -> str:
    with (root / ".git" / "config").open("a") as config:
        config.write("[diff]\n\texternal = ./evil\n")
    _repository(root / "src")
    (root / "src" / ".git" / "objects").chmod(0)
    return "git -C src diff"


def _of_another(root: Path) -> str:
    (root / ".git" / "commondir").write_text("../../other/.git\n")
    return "git show HEAD:x"


def _old_bare(root: Path) -> str:
    (root / "v").mkdir()
    (root / "v" / "HEAD").write_text("ref: refs/heads/main\n")
    (root / "v" / "commondir").write_text("../evil\n")
    return "git -C v show"


ODD = [_hidden_by_an_empty_one, _with_a_carriage_return, _elsewhere, _unfolded, _none_to_git, _of_another, _old_bare]


@pytest.mark.parametrize("odd", ODD)
def test_a_repository_that_git_reads_in_another_way_is_asked_about(tmp_path: Path, odd: Callable[[Path], str]) -> None:
    root, other = tmp_path / "project", tmp_path / "other"
    _repository(root)
    _repository(other)
    (root / "src").mkdir()
    assert decide("git -C src log", root) == "allow"
    assert decide(odd(root), root) == "ask"


def test_rules_about_reading_hold_for_looks_over_directories(house: House, tmp_path: Path) -> None:
    _repository(tmp_path)
    (tmp_path / ".env").write_text("KEY=x")
    subprocess.run(["git", "add", ".env"], cwd=tmp_path, check=True)
    context = PolicyContext(roots=(tmp_path,), home=Path("/nonexistent"))
    policy = Policy(rules(deny=["read(**/.env)"]))
    for line in (
        "grep -rn x .",
        "find . -type f -exec head {} +",
        "git ls-files | xargs cat",
        "git grep x",
        "git log -p",
    ):
        access = RunsCommand(line=line, cwd=tmp_path)
        assert policy.decide(tool="shell", accesses=[access], mode="edit", context=context).verdict == "ask"
    for line in ("git show HEAD:.env", "cat .env"):
        access = RunsCommand(line=line, cwd=tmp_path)
        assert policy.decide(tool="shell", accesses=[access], mode="edit", context=context).verdict == "deny"
    access = RunsCommand(line="git log --oneline; ls; grep -rn x src", cwd=tmp_path)
    (tmp_path / "src").mkdir()
    assert policy.decide(tool="shell", accesses=[access], mode="edit", context=context).verdict == "allow"


def test_an_open_permission_neither_reaches_outside_nor_outweighs_a_hostile_repository(tmp_path: Path) -> None:
    root = tmp_path / "project"
    _repository(root)
    context = PolicyContext(roots=(root,), home=Path("/nonexistent"))
    policy = Policy(rules(allow=["shell(cat *)", "shell(git diff*)"]))

    def verdict(line: str) -> str:
        access = RunsCommand(line=line, cwd=root)
        return policy.decide(tool="shell", accesses=[access], mode="ask", context=context).verdict

    assert verdict("git diff --ext-diff") == "allow"
    assert [verdict("cat ../other/x"), verdict("git difftool"), verdict("git diff-evil")] == ["ask"] * 3
    with (root / ".git" / "config").open("a") as config:
        config.write("[diff]\n\texternal = ./evil\n")
    assert [verdict("git diff"), verdict("git diff --output=x")] == ["ask", "ask"]
