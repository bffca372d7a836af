"""The text for a person who starts `claw-acp` in a terminal, where it would otherwise wait silently for an editor."""

import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from claw_acp.core.version import VERSION

_GUIDE = """\
claw-acp {version}: an agent server for editors (Agent Client Protocol).

It is started by an editor and talks to it on stdin and stdout, so there is nothing to type here.
Name it in your editor's list of agents, with this command{arguments}:

  {command}

In Zed, add this to settings.json:

  "agent_servers": {{
    "claw-acp": {{ "type": "custom", "command": {program}, "args": {args} }}
  }}

Try it without an editor:

  claw-acp demo              watch it work on a sample project, without key or network
  claw-acp run "PROMPT"      one task in this directory
  claw-acp doctor            what works on this machine, and what to do about the rest

A model answers once you have run `claw-acp login`, or set ANTHROPIC_API_KEY or OPENAI_API_KEY; until then the
built-in offline assistant does.
`claw-acp --help` lists all commands.
"""


def main() -> int:
    """Print the guide."""
    program, *arguments = own_command(sys.argv[0])
    print(
        _GUIDE.format(
            version=VERSION,
            arguments=" and these arguments" if arguments else " and no arguments",
            command=" ".join((program, *arguments)),
            program=json.dumps(program, ensure_ascii=False),
            args=json.dumps(arguments),
        ),
        end="",
    )
    return 0


def own_command(started_as: str) -> Sequence[str]:
    """The command that starts this program from anywhere; an editor may have another PATH than a terminal."""
    script = Path(started_as).absolute()
    if script.suffix != ".py" and os.access(script, os.X_OK):
        return (str(script),)
    return sys.executable, "-m", "claw_acp"
