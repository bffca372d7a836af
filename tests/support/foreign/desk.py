"""The desk of a foreign editor: a home and a project on disk, and the program started in them."""

import os
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

from acp.client.connection import ClientSideConnection
from acp.schema import ClientCapabilities, ClientSessionCapabilities, FileSystemCapabilities

from tests.support.foreign.editor import Decide, FillIn, ForeignEditor
from tests.support.foreign.tap import no_complaints, tapped_agent
from tests.support.judges.official_schema import Judge, OfficialSchema
from tests.support.quiet import QUIET
from tests.support.script_files import Script

KEPT = ("PATH", "PYTHONPATH", "LANG", "LC_ALL", "TMPDIR")
SHOWN = 4000  # characters of the log that a failure brings along


class Desk:
    """A home and a project on disk; every editor on it starts a new process of the program."""

    def __init__(self, folder: Path) -> None:
        self.home = folder / "home"
        self.project = folder / "project"
        self.env: dict[str, str] = {}
        for place in (self.claw, self.project):
            place.mkdir(parents=True)

    @property
    def claw(self) -> Path:
        """The program's own directory."""
        return self.home / "claw"

    def plays(self, script: Script, *, config: str = "") -> Script:
        """Configure the scripted model. `config` goes above the tables of `config.toml`."""
        path = script.write(self.home / "script")
        text = f'model = "scripted/play"\n{config}\n[providers.scripted]\nkind = "scripted"\nscript = "{path}"\n'
        (self.claw / "config.toml").write_text(text, encoding="utf-8")
        return script

    def file(self, name: str, text: str = "") -> Path:
        """Make a file in the project."""
        path = self.project / name
        path.write_text(text, encoding="utf-8")
        return path

    @asynccontextmanager
    async def editor(
        self,
        decide: Decide | None = None,
        *,
        files: bool = False,
        terminal: bool = False,
        offers: Mapping[str, Any] | None = None,
        fill_in: FillIn | None = None,
        python: Sequence[str] = ("-m", "claw_acp"),
    ) -> AsyncGenerator[ForeignEditor]:
        """Spawn the program and shake hands. The block fails on any breach of the protocol and any complaint.

        Args:
            decide: Answers requests for permission.
            files: Whether the editor serves files.
            terminal: Whether it serves terminals.
            offers: More capabilities, unstable ones too, by the names of the SDK's fields.
            fill_in: Handles forms and pages.
            python: The interpreter's arguments.
        """
        capabilities = ClientCapabilities(
            fs=FileSystemCapabilities(read_text_file=files, write_text_file=files),
            terminal=terminal,
            session=ClientSessionCapabilities(),
        ).model_copy(update=dict(offers or {}))
        editor = ForeignEditor(decide, fill_in)
        judge = Judge(OfficialSchema.load(unstable=True))  # for `usage` in the answer to a prompt, and nothing else
        with no_complaints():
            try:
                async with tapped_agent(
                    judge=judge, cwd=self.home, env=self._environment(), stderr=self.home / "stderr", python=python
                ) as (reader, writer):
                    connection = ClientSideConnection(editor, writer, reader, use_unstable_protocol=offers is not None)
                    try:
                        await editor.start(connection, capabilities=capabilities, project=self.project)
                        yield editor
                    finally:
                        with suppress(ConnectionError):
                            await connection.close()
            except BaseException as error:
                error.add_note(f"the end of the program's log:\n{self._log()[-SHOWN:]}")
                raise
            finally:
                forgotten = editor.terminals.unreleased()
                editor.terminals.close()
        assert not forgotten, f"the program forgot the terminals {forgotten}"

    def _environment(self) -> Mapping[str, str]:
        kept = {name: os.environ[name] for name in KEPT if name in os.environ}
        return {**kept, **QUIET, "HOME": str(self.home), "CLAW_ACP_HOME": str(self.claw), **self.env}

    def _log(self) -> str:
        return "".join(path.read_text(encoding="utf-8") for path in self.claw.glob("log/*.log"))
