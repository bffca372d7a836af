import json
import re
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from claw_acp.contracts.provider import ChatRequest, ChatResponse, Finished, TextChunk, ThoughtChunk, ToolSpec
from claw_acp.contracts.provider_setup import ProviderSetup
from claw_acp.core.json_value import JsonObject
from claw_acp.core.messages import LinkPart, Message, TextPart
from claw_acp.providers.offline.commands import Repair, Run
from claw_acp.providers.offline.correction import Correction, correction_from, difference, files_hit
from claw_acp.providers.offline.files import Append, CreateFile, ReadFile, Replace
from claw_acp.providers.offline.looking import FindFiles, ListFiles, Search, Summarize
from claw_acp.providers.offline.provider import OfflineProvider
from claw_acp.providers.offline.requests import understand
from claw_acp.providers.offline.tasks import Conditional, Help, MakePlan, Remind
from claw_acp.providers.offline.worker import Wish

ALL_TOOLS = ("read_file", "write_file", "edit_file", "list_files", "glob", "grep", "shell", "plan")


class Refused(Exception):
    """The person said no."""


@dataclass
class Project:
    """A folder, with tools that answer in the words of the built-in ones."""

    root: Path
    refusing: frozenset[str] = frozenset()
    used: list[str] = field(default_factory=list[str])
    plans: list[list[str]] = field(default_factory=list[list[str]])

    def call(self, name: str, arguments: JsonObject) -> tuple[str, bool]:
        self.used.append(name)
        if name in self.refusing:
            return "The user rejected this call, so it was not run. Ask what to do instead.", True
        tool: Callable[[JsonObject], tuple[str, bool]] = getattr(self, f"_{name}")
        try:
            return tool(arguments)
        except FileNotFoundError:
            return f"{arguments['path']} does not exist.", True

    def _path(self, arguments: JsonObject) -> Path:
        return self.root / str(arguments["path"])

    def _read_file(self, arguments: JsonObject) -> tuple[str, bool]:
        lines = self._path(arguments).read_text().splitlines()
        return "\n".join(f"{number:>5}→{line}" for number, line in enumerate(lines, start=1)), False

    def _write_file(self, arguments: JsonObject) -> tuple[str, bool]:
        self._path(arguments).write_text(str(arguments["content"]))
        return "Created.", False

    def _edit_file(self, arguments: JsonObject) -> tuple[str, bool]:
        text = self._path(arguments).read_text()
        for edit in json.loads(json.dumps(arguments["edits"])):
            if text.count(edit["old_text"]) != 1 and not edit.get("all"):
                return "old_text is not there once", True
            text = text.replace(edit["old_text"], edit["new_text"])
        self._path(arguments).write_text(text)
        return "Changed.", False

    def _glob(self, arguments: JsonObject) -> tuple[str, bool]:
        paths = sorted(self.root.glob(str(arguments["pattern"])))
        return "\n".join(str(path.relative_to(self.root)) for path in paths if path.is_file()), False

    def _grep(self, arguments: JsonObject) -> tuple[str, bool]:
        pattern = re.compile(str(arguments["pattern"]))
        files: list[str] = []
        for path in sorted(self.root.rglob("*.py")):
            lines = enumerate(path.read_text().splitlines(), start=1)
            rows = [f"  {number}: {line}" for number, line in lines if pattern.search(line)]
            if rows:
                files.append("\n".join([str(path.relative_to(self.root)), *rows]))
        return "\n\n".join(files) or "No matches.", False

    def _shell(self, arguments: JsonObject) -> tuple[str, bool]:
        done = subprocess.run(
            str(arguments["command"]),
            shell=True,
            cwd=self.root,
            text=True,
            check=False,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )
        ending = "" if "[killed" in done.stdout else f"\n\n[exit code {done.returncode}]"
        return f"{done.stdout}{ending}", done.returncode != 0 or not ending

    def _plan(self, arguments: JsonObject) -> tuple[str, bool]:
        self.plans.append([entry["status"] for entry in json.loads(json.dumps(arguments["entries"]))])
        return "The plan is shown.", False


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path)


def request(*messages: Message, tools: tuple[str, ...] = ALL_TOOLS) -> ChatRequest:
    specs = tuple(ToolSpec(name=name, description="", parameters={}) for name in tools)
    return ChatRequest(model="assistant", messages=(Message.system("Rules."), *messages), tools=specs)


async def converse(project: Project, asked: str | Message, *, tools: tuple[str, ...] = ALL_TOOLS) -> str:
    """Run a whole turn as the loop would, each request to a new provider; everything that was said."""
    messages = [Message.user(asked) if isinstance(asked, str) else asked]
    for _ in range(20):
        response = await OfflineProvider(ProviderSetup(name="offline", kind="offline")).chat(
            request(*messages, tools=tools)
        )
        messages.append(Message.assistant(response.text, tool_calls=response.tool_calls))
        if not response.tool_calls:
            return "".join(message.text for message in messages if message.role == "assistant")
        for call in response.tool_calls:
            text, failed = project.call(call.name, json.loads(call.arguments))
            messages.append(Message.tool(call, text, failed=failed))
    raise AssertionError("the turn does not end")


async def first_answer(*messages: Message) -> ChatResponse:
    return await OfflineProvider(ProviderSetup(name="offline", kind="offline")).chat(request(*messages))


# ---------------------------------------------------------------- the grammar


@pytest.mark.parametrize(
    ("text", "wishes"),
    [
        ("List the files", [ListFiles()]),
        ("please list files in src", [ListFiles(path="src")]),
        ("what files are here?", [ListFiles()]),
        ("find files named *.py", [FindFiles(pattern="*.py")]),
        ("read greet.py", [ReadFile(path="greet.py")]),
        ("Could you show me README.md?", [ReadFile(path="README.md")]),
        ("explain `a b.py`", [ReadFile(path="a b.py", explain=True)]),
        ("What does greet.py do?", [ReadFile(path="greet.py", explain=True)]),
        ("read [@greet.py](file:///home/my%20files/greet.py)", [ReadFile(path="/home/my files/greet.py")]),
        ("find TODO", [Search(text="TODO")]),
        ('search for "hello world" in src', [Search(text="hello world", path="src")]),
        ("where is main defined", [Search(text="main")]),
        (
            "create a file a.txt with Hello there. How are you",
            [CreateFile(path="a.txt", content="Hello there. How are you")],
        ),
        ("Create a.md containing:\n```\n# A\nx then y\n```", [CreateFile(path="a.md", content="# A\nx then y\n")]),
        ("write 'it is' to a.txt", [CreateFile(path="a.txt", content="it is")]),
        ('append "one\\ntwo" to log.txt', [Append(path="log.txt", content="one\ntwo")]),
        ("in a.py, change x by y", [Replace(path="a.py", old="x", new="y")]),
        ("run ls -la | wc", [Run(command="ls -la | wc")]),
        ("run the tests", [Run()]),
        ("Run the tests and tell me what is broken", [Run()]),
        ("Which tests fail?", [Run()]),
        ("run `make test` and report what failed.", [Run(command="make test")]),
        ("Remind me of the tea", [Remind(text="the tea")]),
        ("remind me to call Ada and Bob", [Remind(text="call Ada and Bob")]),
        (
            "Replace 'then run' with 'Hello' in greet.py and then run `make test`",
            [Replace(path="greet.py", old="then run", new="Hello"), Run(command="make test")],
        ),
        (
            "Run `t`; if it fails, replace a with b in c.py, then run it again",
            [Run(command="t"), Conditional(wish=Replace(path="c.py", old="a", new="b")), Run()],
        ),
        ("read a.py and explain b.py", [ReadFile(path="a.py"), ReadFile(path="b.py", explain=True)]),
        ("Read a.py\nRead b.py", [ReadFile(path="a.py"), ReadFile(path="b.py")]),
        ("todo: buy milk, cook", [MakePlan(entries=("buy milk", "cook"))]),
        ("plan:\n- a\n- b then c", [MakePlan(entries=("a", "b then c"))]),
        ("summarize this project", [Summarize()]),
        ("Fix the failing test: run `t`, find the cause, repair it and run the test again.", [Repair(command="t")]),
        ("Fix the greeting in greet.py so that the test passes", [Repair()]),
        ("Fix greet.py so that `make test` passes", [Repair(command="make test")]),
        ("Hello!", [Help()]),
        ("what can you do?", [Help()]),
        ("write me a poem about the sea", []),
        ("read a.py and then write me a poem", []),
        ("delete everything", []),
        ("", []),
    ],
)
def test_plain_requests_are_understood(text: str, wishes: list[Wish]) -> None:
    assert list(understand(text)) == wishes


@given(st.text(max_size=200))
def test_no_text_breaks_the_grammar(text: str) -> None:
    understand(text, attached="a.py")


@given(st.text(alphabet=st.characters(exclude_characters="`\n\r\ue000\ue001", codec="utf-8"), min_size=1))
def test_quoted_text_arrives_untouched(text: str) -> None:
    assert understand(f"search for `{text}`") == (Search(text=text),)


# ---------------------------------------------------------------- turns


async def test_an_unknown_request_is_answered_with_what_is_possible_and_how_to_connect_a_model() -> None:
    answer = await first_answer(Message.user("write me a poem"))

    assert answer.tool_calls == ()
    for words in ("no language model is connected", "list files", "ANTHROPIC_API_KEY", "claw-acp doctor"):
        assert words in answer.text


async def test_the_answer_streams_in_small_pieces_that_add_up(project: Project) -> None:
    events = [
        event
        async for event in OfflineProvider(ProviderSetup(name="offline", kind="offline")).stream(
            request(Message.user("fix the test"))
        )
    ]

    last = events[-1]
    assert isinstance(last, Finished)
    texts = [event.text for event in events if isinstance(event, TextChunk)]
    assert len(texts) > 1
    assert "".join(texts) == last.response.text
    assert [event.text for event in events if isinstance(event, ThoughtChunk)] == [last.response.reasoning[0].text]
    assert last.response.usage is not None


async def test_reading_shows_the_file(project: Project) -> None:
    (project.root / "a.py").write_text("x = 1\n")

    said = await converse(project, "read a.py")

    assert "```python\nx = 1\n```" in said


async def test_an_attached_file_is_what_this_file_means(project: Project) -> None:
    path = project.root / "a b.py"
    path.write_text('"""Adds numbers."""\n\nimport os\n\ndef add(): ...\n')
    message = Message.user(TextPart(text="Explain this file"), LinkPart(uri=path.as_uri(), name="a b.py"))

    said = await converse(project, message)

    assert "a Python file of 5 lines" in said
    assert "Adds numbers." in said
    assert "`def add`" in said


async def test_a_missing_file_is_reported_in_the_words_of_the_tool(project: Project) -> None:
    assert "I could not read `none.py`: none.py does not exist." in await converse(project, "read none.py")


async def test_creating_a_file_writes_it(project: Project) -> None:
    said = await converse(project, 'create a.txt with "one\\ntwo"')

    assert (project.root / "a.txt").read_text() == "one\ntwo\n"
    assert "I wrote `a.txt`." in said


async def test_a_rejected_call_is_respected_and_what_followed_is_left_undone(project: Project) -> None:
    (project.root / "a.txt").write_text("old")
    project.refusing = frozenset({"edit_file"})

    said = await converse(project, "replace old with new in a.txt and then run `touch made`")

    assert "You did not allow me to change `a.txt`" in said
    assert "Not done: Run touch made" in said
    assert (project.root / "a.txt").read_text() == "old"
    assert "shell" not in project.used
    assert project.used.count("edit_file") == 1


async def test_appending_keeps_what_was_there_even_with_equal_last_lines(project: Project) -> None:
    (project.root / "a.txt").write_text("a\nx\nb\nx\n")

    await converse(project, "append three to a.txt")

    assert (project.root / "a.txt").read_text() == "a\nx\nb\nx\nthree\n"


async def test_appending_to_a_missing_file_creates_it(project: Project) -> None:
    await converse(project, "append one to a.txt")

    assert (project.root / "a.txt").read_text() == "one\n"


async def test_replacing_what_is_not_there_changes_nothing(project: Project) -> None:
    (project.root / "a.txt").write_text("some")

    said = await converse(project, "replace other with new in a.txt")

    assert "does not contain `other`" in said
    assert project.used == ["read_file"]


async def test_several_wishes_publish_a_plan_that_is_ticked_off(project: Project) -> None:
    (project.root / "a.txt").write_text("old old")

    said = await converse(project, "replace old with new in a.txt, then run `cat a.txt`")

    assert project.plans == [["in_progress", "pending"], ["completed", "in_progress"], ["completed", "completed"]]
    assert "in 2 places" in said
    assert "new new" in said


async def test_without_a_plan_tool_the_work_is_done_all_the_same(project: Project) -> None:
    tools = tuple(name for name in ALL_TOOLS if name != "plan")

    await converse(project, "create a.txt with a and then run `cp a.txt b.txt`", tools=tools)

    assert (project.root / "b.txt").read_text() == "a\n"
    assert project.plans == []


async def test_a_tool_that_is_not_offered_is_never_called(project: Project) -> None:
    said = await converse(project, "create a.txt with a", tools=("read_file",))

    assert "does not offer `write_file`" in said
    assert project.used == []


async def test_after_a_failed_command_only_a_conditional_step_goes_on(project: Project) -> None:
    await converse(project, "run `false`; then run `touch made`")
    assert not (project.root / "made").exists()

    said = await converse(project, "run `false`; if it fails, run `touch made`")
    assert (project.root / "made").exists()
    assert "`false` failed with exit code 1" in said


async def test_a_killed_command_counts_as_failed(project: Project) -> None:
    assert "did not come to its end" in await converse(project, "run `printf '[killed by SIGKILL]' && exit`")


async def test_a_condition_that_does_not_hold_is_skipped(project: Project) -> None:
    said = await converse(project, "run `true`; if it fails, run `touch made`")

    assert "It did not fail" in said
    assert not (project.root / "made").exists()
    assert project.plans[-1] == ["completed", "completed"]


async def test_a_project_is_summarized_from_its_files_and_readme(project: Project) -> None:
    (project.root / "README.md").write_text("# Greeter\n\nSays hello to people.\n\n## Use\n")
    (project.root / "a.py").write_text("")

    said = await converse(project, "summarize this project")

    for words in ("2 files", "1 Markdown", "Says hello to people.", "Greeter, Use"):
        assert words in said


def broken_greeter(root: Path) -> str:
    (root / "greet.py").write_text('def greet(name: str) -> str:\n    return f"Helo, {name}!"\n')
    (root / "test_greet.py").write_text(
        "import unittest\nfrom greet import greet\n\nclass T(unittest.TestCase):\n"
        '    def test_it(self) -> None:\n        self.assertEqual(greet("Ada"), "Hello, Ada!")\n'
    )
    return f"{sys.executable} -B -m unittest"


async def test_a_misspelled_text_is_found_from_the_failing_test_and_mended(project: Project) -> None:
    command = broken_greeter(project.root)

    said = await converse(project, f"Fix the failing test: run `{command}`, find the cause and repair it")

    assert '"Hello, {name}!"' in (project.root / "greet.py").read_text()
    assert "passes now" in said
    assert [name for name in project.used if name != "plan"] == ["shell", "grep", "read_file", "edit_file", "shell"]
    assert project.plans[-1] == ["completed"] * 4


async def test_a_test_that_fails_for_another_reason_is_shown_and_left(project: Project) -> None:
    said = await converse(project, "fix the failing test: run `echo AssertionError: 3 != 4; false`")

    assert "not because of a wrong text" in said
    assert "3 != 4" in said
    assert "edit_file" not in project.used


async def test_a_passing_test_needs_no_repair(project: Project) -> None:
    assert "passes already" in await converse(project, "fix the failing test: run `true`")


async def test_a_turn_that_broke_off_goes_on_with_the_call_marked_as_interrupted(project: Project) -> None:
    asked = Message.user("read a.py")
    opening = await first_answer(asked)

    answer = await first_answer(asked, Message.assistant(opening.text, tool_calls=opening.tool_calls))

    assert "The call was interrupted." in answer.text


# ---------------------------------------------------------------- the repair rule


@pytest.mark.parametrize(
    ("left", "right", "wrong", "replacement"),
    [
        ("Helo, Ada!", "Hello, Ada!", "Helo", "Hello"),
        ("one two three", "one 2 three", "two", "2"),
        ("Bye", "Good bye", "Bye", "Good bye"),
        ("Hello", "Hello!", "", "!"),
    ],
)
def test_the_difference_is_whole_words(left: str, right: str, wrong: str, replacement: str) -> None:
    assert difference(left, right) == Correction(wrong=wrong, right=replacement)


@given(st.text(), st.text())
def test_replacing_the_difference_once_makes_the_texts_equal(left: str, right: str) -> None:
    if left == right:
        return
    found = difference(left, right)
    starts = [at for at in range(len(left) + 1) if left.startswith(found.wrong, at)]
    assert right in [left[:at] + found.right + left[at + len(found.wrong) :] for at in starts]


def test_both_test_runners_are_understood() -> None:
    expected = Correction(wrong="Helo", right="Hello")

    assert correction_from("AssertionError: 'Helo, A' != 'Hello, A'\n- Helo") == expected
    assert correction_from("E       AssertionError: assert 'Helo, A' == 'Hello, A'") == expected
    assert correction_from("AssertionError: 1 != 2") is None


def test_hits_in_tests_do_not_count() -> None:
    found = "src/greet.py\n  2: a\n  9- b\n\ntests/check.py\n  1: a\n\ntest_greet.py\n  4: a\n\n[3 more]"

    assert files_hit(found) == ("src/greet.py",)
