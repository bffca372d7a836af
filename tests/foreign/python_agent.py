"""An agent made with the official Python SDK, for tests in which the program is the client; see `agent.mjs`."""

import os
from typing import Any

import anyio
from acp import Agent, InitializeResponse, NewSessionResponse, PromptResponse, run_agent, update_agent_message_text
from acp.interfaces import Client
from acp.schema import PermissionOption, SelectedPermissionOutcome, ToolCallLocation, ToolCallUpdate


class Worker(Agent):
    """Does what the lines of its prompt say."""

    client: Client

    def on_connect(self, conn: Client) -> None:
        self.client = conn
        self.cancelled = anyio.Event()

    async def initialize(self, protocol_version: int, *_: Any, **__: Any) -> InitializeResponse:
        return InitializeResponse(protocol_version=protocol_version)

    async def new_session(self, *_: Any, **__: Any) -> NewSessionResponse:
        return NewSessionResponse(session_id="s1")

    async def prompt(self, session_id: str, prompt: list[Any], **_: Any) -> PromptResponse:
        for line in "\n".join(block.text for block in prompt).split("\n"):
            if line.startswith("!"):
                verb, path, *words = line[1:].split(" ", 2)
                said = await getattr(self, verb)(session_id, path, *words)
                await self.client.session_update(session_id, update_agent_message_text(f"[{said}]"))
        return PromptResponse(stop_reason="cancelled" if self.cancelled.is_set() else "end_turn")

    async def cancel(self, *_: Any, **__: Any) -> None:
        self.cancelled.set()

    async def read(self, session_id: str, path: str) -> str:
        return (await self.client.read_text_file(session_id=session_id, path=path)).content

    async def write(self, session_id: str, path: str, content: str) -> str:
        await self.client.write_text_file(session_id=session_id, path=path, content=content)
        return "written"

    async def permit(self, session_id: str, path: str) -> str:
        call = ToolCallUpdate(
            tool_call_id="t1", title=f"Edit {path}", kind="edit", locations=[ToolCallLocation(path=path)]
        )
        options = [
            PermissionOption(option_id="yes", name="Yes", kind="allow_once"),
            PermissionOption(option_id="no", name="No", kind="reject_once"),
        ]
        asked = await self.client.request_permission(session_id=session_id, tool_call=call, options=options)
        chosen = asked.outcome
        return chosen.option_id if isinstance(chosen, SelectedPermissionOutcome) else "cancelled"

    async def wait(self, _session_id: str, path: str) -> str:
        await anyio.Path(path).write_text(str(os.getpid()))
        await self.cancelled.wait()
        return "cancelled"


if __name__ == "__main__":
    anyio.run(run_agent, Worker())  # pyright: ignore[reportAbstractUsage] - methods that no test calls
