"""Which commands only read, by their programs, options and scripts."""

from pathlib import Path

import pytest

from claw_acp.contracts.tool import RunsCommand
from claw_acp.security.policy import Policy, PolicyContext
from tests.security.conftest import House, rules

READS = [
    "grep -rn --include=*.py x . | head -5",
    "sed -n '/a/,/b/p;$p' README.md",
    "sed -e 's/a/b/g' -e '3,5d' README.md",
    "awk -F: '$1 > 3 && /x/ {s += $2; n++} END {printf \"%d\\n\", s/n}' README.md",
    "awk '!seen[$0]++' README.md",
    "jq -r '.a[] | select(.env == \"x\")' README.md",
    "timeout 5 git -C src log --oneline -5",
    "bash -c 'ls | wc -l'",
    "bash --version; go version; node -v",
    "env LC_ALL=C sort -t, -k2,2n README.md | uniq -c",
    'test -f README.md && echo "it is: $?"',
    "cat <<'X' | wc\n$(rm x)\nX",
    "date -u +%F; printf '%s\\n' a b; basename a/b.py .py",
    "git branch --list 'a*'; git tag -n; git config --get user.name; git stash list; git remote -v",
]
MAY_DO_MORE = [
    "sort --compress-program=./x README.md",
    "sort --files0-from=README.md",
    "grep --reg=. x",
    "grep -5e. x",
    "rg --pre ./x y",
    "rg -L x",
    "find -L . -name x",
    "find . -exec uniq {} +",  # two names: the second is written
    "find . -exec sed -n {} README.md \\;",  # a name becomes a script
    "find . -fprint x",
    "ls | xargs cat",
    "git ls-files | sed s/x/y/ | xargs cat",
    "find . | xargs -I{} sh -c {}",
    "uniq - out",
    "xxd -o9 -ps README.md out",
    "tree -Po x out",
    "sed 'w out' README.md",
    "sed 's/x/y/e' README.md",
    "sed --expr='1e touch x' README.md",
    "awk '{print > \"out\"}' README.md",
    "awk '{print $1,\n $2 > \"out\"}' README.md",
    'awk \'if (x) /"/ {print > "out"} #"\'',
    "awk 'BEGIN {ARGV[1] = \"/etc/passwd\"; ARGC = 2}'",
    "jq --indent 2 env README.md",
    "jq -n '$ENV'",
    "date 010100002020",
    "hostname other",
    "make version; bash version",
    "pytest --version",
    "yarn --version",
    "git branch new",
    "git branch -v new",
    "git log --output=x",
    "git for-each-ref --format '%(signature)'",
    "git -c core.fsmonitor=./x status",
    "git remote -v update",
    "git diff --ext-diff",
    "git grep -Ox y",
    "printf '%n' 'a[$(touch x)]'",
    "test -v 'a[$(touch x)]'",
    "HOME=evil git status",
    "npm_config_script_shell=./x ls",
    "nohup ls",
]


@pytest.mark.parametrize("line", READS)
def test_a_line_that_only_reads_is_not_asked_about(house: House, line: str) -> None:
    assert [house.run(line, mode=mode).verdict for mode in ("plan", "ask", "edit")] == ["allow"] * 3


@pytest.mark.parametrize("line", MAY_DO_MORE)
def test_a_line_that_may_do_more_is_refused_in_plan_mode_and_asked_about_otherwise(house: House, line: str) -> None:
    assert [house.run(line, mode=mode).verdict for mode in ("plan", "ask", "edit")] == ["deny", "ask", "ask"]


def test_a_refused_program_stays_refused_inside_a_wrapper(house: House) -> None:
    given = rules(deny=["shell(cat *)"])
    lines = ["timeout 5 cat README.md", "bash -c 'cat README.md'", "find . -exec cat {} +"]
    assert {house.run(line, given=given).verdict for line in lines} == {"deny"}


def decide(line: str, root: Path, *, search_path: tuple[Path, ...] = ()) -> str:
    context = PolicyContext(roots=(root,), home=Path("/nonexistent"), search_path=search_path)
    access = RunsCommand(line=line, cwd=root)
    return Policy().decide(tool="shell", accesses=[access], mode="edit", context=context).verdict


def test_names_are_handed_to_programs_only_where_none_of_them_can_be_something_else(tmp_path: Path) -> None:
    root = tmp_path / "project"
    (root / "src").mkdir(parents=True)
    (root / "src" / "a.py").write_text("x")
    lines = ["find . -name '*.py' | xargs cat", "find src -exec cat {} +"]
    more = ["find . -print0 | xargs -0 grep -l x", "rg -l x src | sort -u | head -5 | xargs wc -l"]
    assert {decide(line, root) for line in lines + more} == {"allow"}
    (root / "src" / "link.py").symlink_to("/etc/hostname")
    assert [decide(line, root) for line in lines] == ["ask", "ask"]
    assert decide("find src -type f -exec cat {} +", root) == "allow"
    (root / "src" / "link.py").unlink()
    (root / "src" / "two words").mkdir()
    assert decide(lines[0], root) == "ask"


def test_a_wildcard_that_matches_an_option_or_too_much_is_asked_about(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("x")
    assert decide("wc *", tmp_path) == "allow"
    (tmp_path / "--files0-from=a").write_text("")
    assert decide("wc *", tmp_path) == "ask"
    many = tmp_path / "many"
    many.mkdir()
    for number in range(2_001):
        (many / str(number)).touch()
    assert decide("cat many/*", tmp_path) == "ask"


def test_a_file_that_the_line_itself_writes_may_change_what_it_reads(tmp_path: Path) -> None:
    assert decide("echo x > new; cat new", tmp_path) == "allow"
    assert decide("echo x > new; cat *", tmp_path) == "ask"
    assert decide("echo x > new; git status", tmp_path) == "ask"


def test_a_program_that_lies_in_the_project_is_asked_about(tmp_path: Path) -> None:
    binaries = tmp_path / ".venv" / "bin"
    binaries.mkdir(parents=True)
    (binaries / "ls").write_text("#!/bin/sh\ntouch x\n")
    (binaries / "ls").chmod(0o755)
    path = (binaries, Path("/usr/bin"))
    assert [decide(line, tmp_path, search_path=path) for line in ("ls", "cat x", "timeout 5 ls")] == [
        "ask",
        "allow",
        "ask",
    ]


def test_a_file_that_chooses_the_compiler_makes_its_version_a_question(tmp_path: Path) -> None:
    assert decide("cargo --version", tmp_path) == "allow"
    (tmp_path / "rust-toolchain.toml").write_text('[toolchain]\npath = "evil"\n')
    assert decide("cargo --version", tmp_path) == "ask"


def test_a_change_of_directory_counts_where_it_is_certain(tmp_path: Path) -> None:
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "key").symlink_to("/etc/hostname")
    assert decide("cd src; ls; cd ..; ls", tmp_path) == "allow"
    assert decide("cd ..; ls", tmp_path) == "ask"
    assert decide("cd src; cat key", tmp_path) == "ask"
    assert decide("grep x y && cd src; cd ..; ls", tmp_path) == "ask"  # it may have been skipped
    assert decide("ls | cd src; cat key", tmp_path) == "ask"
