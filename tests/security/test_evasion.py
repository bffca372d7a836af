"""Ways around a rule that forbids a command. None of them may end in "allowed"."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from claw_acp.security.policy import Mode
from tests.security.conftest import House, rules

FORBIDDEN = rules(deny=["shell(rm)"])

SPELLINGS = [
    "rm -rf x",
    "r\\m -rf x",
    "\\rm -rf x",
    '"rm" -rf x',
    "'r'm -rf x",
    "r''m -rf x",
    "$'rm' -rf x",
    "$'\\x72m' -rf x",
    "/bin/rm -rf x",
    "/usr/bin/../bin/rm x",
    "RM x",
    "command rm x",
    "command -p rm x",
    "builtin command rm x",
    "exec rm x",
    "$(echo rm) -rf x",
    "`echo rm` x",
    "rm$IFS-rf$IFS/x",
    "rm${IFS}-rf x",
    "${0/x/rm} x",
    "a=rm; $a x",
    "a=r b=m; $a$b x",
    "{rm,-rf,x}",
    "/bin/r? x",
    "echo cm0gLXJm | base64 -d | sh",
    "echo 'rm x' | bash",
    "sh <<< 'rm x'",
    "sh <<EOF\nrm x\nEOF",
    "bash <<'EOF'\nrm x\nEOF",
    "cat <<EOF | sh\nrm x\nEOF",
    "git -c alias.x='!rm x' x",
    "git -c core.sshCommand='rm x' fetch",
    "git config alias.x '!rm x'",
    "git bisect run rm x",
    "find . -exec rm {} \\;",
    "find . -execdir rm {} +",
    "find . -delete",
    "find . -exec sh -c 'rm \"$1\"' _ {} \\;",
    "env rm x",
    "env -i A=1 rm x",
    "env -S 'rm x'",
    "ls | xargs rm",
    "ls | xargs -I% sh -c 'rm %'",
    "ls | xargs -n1 env rm",
    "bash -c 'rm x'",
    "bash -xec 'rm x'",
    'bash -c "$(echo rm x)"',
    "sh -c 'sh -c \"rm x\"'",
    "sudo rm x",
    "sudo -u root -- rm x",
    "sudo bash -c 'rm x'",
    "nohup rm x &",
    "timeout 5 rm x",
    "nice -n 19 rm x",
    "time rm x",
    "setsid rm x",
    "busybox rm x",
    "eval 'rm x'",
    "eval $(echo rm x)",
    "trap 'rm x' EXIT",
    "f() { rm x; }; f",
    "if true; then rm x; fi",
    "while true; do rm x; break; done",
    "! rm x",
    "(rm x)",
    "{ rm x; }",
    "ls\nrm x",
    "ls\\\nrm x; rm y",
    "r\\\nm x",
    "ls &\nrm x",
    "ls # c\nrm x",
    "ls; # c\nrm x",
    "ls <(rm x)",
    "echo $(rm x)",
    'echo "$(rm x)"',
    'echo "`rm x`"',
    "echo ${x:-$(rm x)}",
    "echo $((1+$(rm x)))",
    "cat <<EOF\n$(rm x)\nEOF",
    "cat <<EOF\n`rm x`\nEOF",
    "X=$(rm x)",
    "X=$(rm x) ls",
    "export X=$(rm x)",
    "a[$(rm x)]=1",
    "[[ -n $(rm x) ]]",
    "case $(rm x) in *) ls;; esac",
    "for i in $(rm x); do ls; done",
    "ls > $(rm x)",
    "ls 2>/dev/null; rm x",
    "> out rm x",
    "A=1 rm x",
    "coproc rm x",
    "alias ls='rm x'",
    "fish -c 'rm x'",
    "parallel rm ::: x",
    "watch -n 1 rm x",
    "su -c 'rm x'",
    "chroot / rm x",
    "((rm))",
    "[[ a || rm ]]",
    "noglob rm x",
    "=rm x",
]

# Other ways to destroy or to run anything: none only reads, so none runs without a question in `ask` mode.
DESTRUCTIVE = [
    ": > README.md",
    "> README.md",
    "true > README.md",
    "cat /dev/null > README.md",
    "cp /dev/null README.md",
    "dd if=/dev/null of=README.md",
    "dd of=README.md",
    "echo x | tee README.md",
    "truncate -s 0 README.md",
    "mv README.md /dev/null",
    "unlink README.md",
    "shred README.md",
    "sed -i d README.md",
    "perl -i -pe 1 README.md",
    "python -c 'import os; os.unlink(1)'",
    "node -e 'require(\"fs\").unlinkSync(1)'",
    "awk 'BEGIN{system(\"rm x\")}'",
    "git clean -fdx",
    "git checkout -- .",
    "tar --to-command=rm -xf x.tar",
    "rsync --delete a/ b/",
    "make -f evil",
    "vim -c ':!rm x'",
    "printf -v PATH .",
    "read PATH",
    "source evil",
    ". ./evil",
    "exec 3> README.md",
    "PAGER='rm x' git log",
    "LD_PRELOAD=./evil.so ls",
    "sort --compress-program=./evil README.md",
    "tree -o README.md",
    "git grep --open-files-in-pager=rm x",
    "git log --outp=README.md",
    "jq -n 'env'",
    "printenv",
    "env",
    "cat </dev/tcp/example.org/80",
]


@pytest.mark.parametrize("mode", ["plan", "ask", "edit", "auto"])
@pytest.mark.parametrize("line", SPELLINGS)
def test_no_spelling_of_a_forbidden_command_is_allowed(house: House, line: str, mode: Mode) -> None:
    assert house.run(line, mode=mode, given=FORBIDDEN).verdict != "allow"


@pytest.mark.parametrize("line", SPELLINGS)
def test_no_spelling_passes_under_rules_for_other_commands(house: House, line: str) -> None:
    allowed = rules(
        allow=["shell(ls)", "shell(echo)", "shell(cat)", "shell(git status)", "shell(find . -name)", "shell(true)"]
    )
    assert house.run(line, given=allowed).verdict != "allow"


@pytest.mark.parametrize("line", DESTRUCTIVE)
def test_what_changes_things_is_not_taken_for_reading(house: House, line: str) -> None:
    assert house.run(line).verdict != "allow"
    assert house.run(line, mode="plan").verdict != "allow"


FRAMES = st.sampled_from(
    [
        "{}",
        "ls; {}",
        "ls && {}",
        "false || {}",
        "ls | {}",
        "{} | cat",
        "({})",
        "{{ {}; }}",
        "echo $({})",
        'echo "$({})"',
        "echo `{}`",
        "cat <({})",
        "if ls; then {}; fi",
        "for i in 1 2; do {}; done",
        "f() {{ {}; }}; f",
        "! {}",
        "{} &",
        "{} 2>&1",
        "X=$({})",
        "cat <<EOF\n$({})\nEOF",
        "case a in a) {};; esac",
        "echo ${{x:-$({})}}",
        "time {}",
        "ls\n{}",
        "[[ -n $({}) ]]",
        "env A=1 {}",
        "nohup {}",
        "timeout 9 {}",
    ]
)
DENIED = st.sampled_from(["rm x", "rm", "/bin/rm -f y", "r\\m x", "'rm' z"])


@given(frames=st.lists(FRAMES, max_size=4), command=DENIED, mode=st.sampled_from(["plan", "ask", "edit", "auto"]))
def test_no_composition_makes_a_denied_command_weaker_than_ask(
    house: House, frames: list[str], command: str, mode: Mode
) -> None:
    line = command
    for frame in frames:
        line = frame.format(line)
    decision = house.run(line, mode=mode, given=(*FORBIDDEN, *rules(allow=["shell"])))
    assert decision.verdict != "allow", line
