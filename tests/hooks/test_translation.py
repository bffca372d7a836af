"""Names, arguments and rules of hooks, as the documentation of other agents has them."""

from pathlib import Path
from typing import Any

import pytest

from claw_acp.contracts.hook import (
    AfterTool,
    BeforeTool,
    HookEvent,
    HookResult,
    PromptGiven,
    SessionStarted,
    TurnEnding,
)
from claw_acp.hooks.answer import result_of
from claw_acp.hooks.foreign_tools import foreign_arguments, foreign_name, own_arguments
from claw_acp.hooks.rule import HookRule

CWD = Path("/work")
EDIT = {"path": "a.py", "edits": [{"old_text": "a", "new_text": "b"}]}


def calls(tool: str, **arguments: Any) -> BeforeTool:
    return BeforeTool(tool=tool, arguments=arguments, call_id="call_1")


@pytest.mark.parametrize(
    ("tool", "ours", "name", "theirs"),
    [
        ("shell", {"command": "ls", "timeout": 2}, "Bash", {"command": "ls", "timeout": 2000}),
        ("edit_file", EDIT, "Edit", {"file_path": "/work/a.py", "old_string": "a", "new_string": "b"}),
        ("write_file", {"path": "/x/a", "content": "c"}, "Write", {"file_path": "/x/a", "content": "c"}),
        ("delete_file", {"path": "a"}, "delete_file", {"file_path": "/work/a"}),
        ("read_file", {"path": "a", "line": 3}, "Read", {"file_path": "/work/a", "offset": 3}),
        (
            "git_commit",
            {"message": "a b", "paths": ["c"]},
            "git_commit",
            {"message": "a b", "paths": ["c"], "command": "git commit 'a b' c"},
        ),
        ("github__search", {"q": "x"}, "mcp__github__search", {"q": "x"}),
    ],
)
def test_calls_are_told_in_published_names_and_come_back_in_ours(
    tool: str, ours: dict[str, Any], name: str, theirs: dict[str, Any]
) -> None:
    assert (foreign_name(tool, ours), foreign_arguments(tool, ours, cwd=CWD)) == (name, theirs)
    back = own_arguments(tool, theirs, before=ours)
    assert foreign_arguments(tool, back, cwd=CWD) == theirs


def test_several_edits_are_a_multi_edit_and_a_changed_input_keeps_what_it_leaves_out() -> None:
    edits = [*EDIT["edits"], {"old_text": "c", "new_text": "d"}]
    told = foreign_arguments("edit_file", {"path": "a", "edits": edits}, cwd=CWD)
    assert foreign_name("edit_file", {"path": "a", "edits": edits}) == "MultiEdit"
    assert told["edits"] == [{"old_string": "a", "new_string": "b"}, {"old_string": "c", "new_string": "d"}]
    assert own_arguments("edit_file", {"new_string": "z"}, before=EDIT)["edits"] == [{"old_text": "a", "new_text": "z"}]


@pytest.mark.parametrize(
    ("rule", "event", "fits"),
    [
        ({"matcher": "Edit|Write"}, calls("edit_file"), True),
        ({"matcher": "Edit"}, calls("shell"), False),
        ({"matcher": "shell"}, calls("shell"), True),
        ({"matcher": "Bash"}, calls("git_commit", message="x"), True),
        ({"matcher": "Bash"}, calls("delete_file", path="x"), False),
        ({"matcher": "Edit"}, calls("apply_patch", patch="x"), True),
        ({"matcher": "Write"}, calls("delete_file", path="x"), True),
        ({"condition": "Bash(git commit:*)"}, calls("git_commit", message="x"), True),
        ({"condition": "Bash(git push:*)"}, calls("git_commit", message="git push"), False),
        ({"matcher": "Note.*|^Ba"}, calls("shell"), True),
        ({"matcher": "mcp__github__.*"}, calls("github__search"), True),
        ({"condition": "Bash(git push:*)"}, calls("shell", command="git push -f"), True),
        ({"condition": "Bash(git push:*)"}, calls("shell", command="git status"), False),
        ({"event": "SessionStart", "matcher": "resume"}, SessionStarted(source="startup"), False),
        ({"event": "Stop"}, TurnEnding(text="", again=False, agent="scout"), False),
        ({"event": "SubagentStop"}, TurnEnding(text="", again=False, agent="scout"), True),
        ({"event": "PostToolUse"}, AfterTool(tool="x", arguments={}, call_id="", text="", failed=True), False),
    ],
)
def test_a_rule_says_which_events_it_is_for(rule: dict[str, str], event: HookEvent, *, fits: bool) -> None:
    condition, matcher = rule.get("condition", ""), rule.get("matcher", "")
    made = HookRule(event=rule.get("event", "PreToolUse"), command="true", matcher=matcher, condition=condition)
    assert made.fits(event) is fits


@pytest.mark.parametrize(
    ("event", "printed", "result"),
    [
        (PromptGiven(text=""), "use tabs", HookResult(context="use tabs")),
        (calls("shell"), "only said", HookResult()),
        (calls("shell"), '{"continue": false, "stopReason": "late"}', HookResult(ends_turn="late")),
        (calls("shell"), '{"decision": "block", "reason": "r"}', HookResult(cancel="r")),
        (calls("shell"), '{"hookSpecificOutput": {"permissionDecision": "allow"}}', HookResult()),
        (
            calls("shell"),
            '{"hookSpecificOutput": {"permissionDecision": "ask", "permissionDecisionReason": "r"}}',
            HookResult(ask="r"),
        ),
        (calls("shell"), '{"systemMessage": "hi", "suppressOutput": true}', HookResult(remark="hi")),
    ],
)
def test_answers_are_read_in_the_published_shape(event: HookEvent, printed: str, result: HookResult) -> None:
    assert result_of(event, code=0, printed=printed, errors="") == result
