"""What a person sees who starts `claw-acp` in a terminal, where it would otherwise wait for an editor in silence."""

from claw_acp.core.version import VERSION

_GUIDE = f"""\
claw-acp {VERSION}: an agent server for editors (Agent Client Protocol).

It is started by an editor and talks to it on stdin and stdout, so there is nothing to type here.
Name it in your editor's list of agents, with the command `claw-acp` and no arguments.
In Zed, add this to settings.json:

  "agent_servers": {{ "claw-acp": {{ "type": "custom", "command": "claw-acp", "args": [] }} }}

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
    print(_GUIDE, end="")
    return 0
