"""A slice of the long run (`python -m tests.fuzz.commands`), always the same one; and that it would see harm."""

import pytest

from tests.fuzz.commands.arena import missing
from tests.fuzz.commands.campaign import reports, shown

NO_ARENA = missing()

pytestmark = pytest.mark.skipif(NO_ARENA is not None, reason=f"lines cannot be run here: {NO_ARENA}")

HARM = {
    "touch PWNED": "made /tmp/arena/project/PWNED",
    "rm README.md": "deleted /tmp/arena/project/README.md",
    "chmod 700 README.md": "changed /tmp/arena/project/README.md",
    "echo x > ~/.bashrc": "changed /tmp/arena/home/.bashrc",
    "make": "made /tmp/arena/RAN",
    "git -C vendor/module diff": "made /tmp/arena/RAN",
    "cat keys.txt": "opened /tmp/arena/home/.ssh/id_ed25519",
    "wc -c ~/.netrc": "opened /tmp/arena/home/.netrc",
    "echo $FORGE_TOKEN": "printed a secret",
    "tr '\\0' '\\n' < /proc/$PPID/environ": "printed a secret",
    "sleep 100 &": "left running: sleep 100",
    "setsid sleep 100 & exit": "left running: sleep 100",
    "kill -9 $PPID": "ended the program that ran it",
    "cat < /dev/tcp/192.0.2.1/80": "used the network",
    "date -s 2020-01-01": "tried, without the right: cannot set date",
}


def test_lines_that_only_read_by_the_policys_word_change_nothing_start_nothing_and_open_no_key() -> None:
    ran = list(reports(["--seed", "20261122", "--quick", "--lines", "400"]))
    assert sum(report["ran"] for report in ran) > 50
    assert "".join(shown(finding) for report in ran for finding in report["found"]) == ""


def test_harm_of_every_kind_is_seen() -> None:
    ran = list(
        reports(["--seed", "1", "--quick", "--given"], lines=[*HARM, "ls -la; git status; git log -p; cat README.md"])
    )
    seen = {finding["line"]: finding["effects"] for report in ran for finding in report["found"]}
    assert {line: effect for line, effect in HARM.items() if effect not in map(str.strip, seen.get(line, ()))} == {}
    assert seen.keys() == HARM.keys()
