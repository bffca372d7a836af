"""Real language servers: an error of theirs reaches the model in their words, and is gone when it is mended.

They run in the sandbox of this machine. The projects are hostile where their servers run unasked: whatever of them is
run leaves a file behind.
"""

from pathlib import Path

import pytest

from claw_acp.core.value import Value
from tests.codeintel.conftest import Machine
from tests.support.editors.editor_fixtures import Spawn
from tests.support.foreign.node import foreign_modules
from tests.support.script_files import Script, call, expect, say, turn


class Case(Value):
    """A server, a project, and an edit with its error.

    Attributes:
        programs: What the machine has.
        files: The project.
        path: The edited file.
        broken: Its text after the edit.
        told: The error, as the model reads it.
        mended: Its text at the end.
    """

    programs: tuple[str, ...]
    files: dict[str, str]
    path: str
    broken: str
    told: str
    mended: str

    def write(self, project: Path) -> None:
        for path, text in self.files.items():
            (project / path).parent.mkdir(parents=True, exist_ok=True)
            (project / path).write_text(text)
            (project / path).chmod(0o755)


CONFINED = {"CLAW_ACP_SANDBOX": "on"}
SCRIPT = "#!/bin/sh\ntouch was-run\n"
MODULE = "open('was-run', 'w')\n"
PYTHON = {
    "a.py": "def half(number: int) -> int:\n    return number // 2\n",
    "b.py": "print()\n",
    "json.py": MODULE,
    "sitecustomize.py": MODULE,
    "python3": SCRIPT,
    ".venv/bin/python": SCRIPT,
    "pyrightconfig.json": '{"venvPath": ".", "venv": ".venv", "pythonPath": "./python3"}',
}
COMPILER = '[{"directory": ".", "command": "./compiler -fplugin=./x.so -c b.c", "file": "b.c"}]'
STRICT = '{"compilerOptions": {"strict": true}}'
CASES = {
    "pyright": Case(
        programs=("pyright-langserver",),
        files=PYTHON,
        path="b.py",
        broken="from a import half\n\nvalue: str = half(4)\n",
        told='b.py:3:14 error reportAssignmentType Type "int" is not assignable to declared type "str"',
        mended="from a import half\n\nvalue: int = half(4)\n",
    ),
    "ruff": Case(
        programs=("ruff",),
        files={"ruff.toml": "", "b.py": "import os\nprint()\n"},
        path="b.py",
        broken="import os\nimport sys\nprint()\n",
        told="b.py:2:8 warning F401 `sys` imported but unused",
        mended="import os\nimport sys\nprint(sys.path)\n",
    ),
    "clangd": Case(
        programs=("clangd",),
        files={
            "b.c": "int main(void) { return 0; }\n",
            "compiler": SCRIPT,
            ".clangd": "CompileFlags:\n  Compiler: ./compiler\n",
            "compile_commands.json": COMPILER,
        },
        path="b.c",
        broken="int main(void) { return zero; }\n",
        told="b.c:1:25 error undeclared_var_use Use of undeclared identifier 'zero'",
        mended="int main(void) { int zero = 0; return zero; }\n",
    ),
    "gopls": Case(
        programs=("gopls", "go"),
        files={"go.mod": "module x\n\ngo 1.21\n", "b.go": "package x\n"},
        path="b.go",
        broken='package x\n\nvar Number int = "one"\n',
        told='b.go:3:18 error IncompatibleAssign cannot use "one"',
        mended="package x\n\nvar Number int = 1\n",
    ),
}  # fmt: skip

TYPESCRIPT = Case(
    programs=(),
    files={"tsconfig.json": STRICT, "a.ts": 'export const word = "one";\n', "b.ts": ""},
    path="b.ts",
    broken='import { word } from "./a";\n\nexport const number: number = word;\n',
    told="b.ts:3:14 error 2322 Type 'string' is not assignable to type 'number'.",
    mended='import { word } from "./a";\n\nexport const text: string = word;\n',
)


@pytest.mark.parametrize("name", CASES)
async def test_a_new_error_is_mended_before_the_turn_ends(
    opened: Spawn, project: Path, machine: Machine, name: str
) -> None:
    case = CASES[name]
    case.write(project)
    script = Script(
        turn(call("read_file", path=case.path), call("write_file", path=case.path, content=case.broken)),
        turn(say("done")),
        turn(expect(case.told), call("write_file", path=case.path, content=case.mended)),
        turn(say(" mended")),
    )
    async with opened(script=script, config='mode = "auto"', env=machine(*case.programs) | CONFINED) as editor:
        outcome = await editor.prompt("go")
    assert (outcome.stop_reason, outcome.text, outcome.thoughts) == ("end_turn", "done mended", "")
    assert not (project / "was-run").exists()
    assert [each["name"] for each in outcome.calls] == ["read_file", "write_file", "diagnostics", "write_file"]


async def test_a_server_that_runs_code_of_the_project_is_asked_about_once(
    opened: Spawn, project: Path, machine: Machine
) -> None:
    case = TYPESCRIPT
    case.write(project)
    script = Script(
        turn(call("read_file", path=case.path), call("write_file", path=case.path, content=case.broken)),
        turn(say("done")),
        turn(expect(case.told), call("write_file", path=case.path, content=case.mended)),
        turn(say(" mended")),
    )
    environment = machine("node", str(foreign_modules() / ".bin/typescript-language-server")) | CONFINED
    async with opened(script=script, config='mode = "edit"', env=environment) as editor:
        prompt = await editor.start_prompt("go")
        editor.will_answer(None)
        question = await editor.wait_for_question()
        assert "plugins that tsconfig.json names" in str(question.params)
        await editor.answer(question, "allow_once")
        editor.will_answer()  # another question would fail
        outcome = await prompt.outcome()
    assert outcome.text == "done mended"
