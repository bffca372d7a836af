"""`/init` and `/review`: ready-made prompts."""

from claw_acp.contracts.command import Asks, CommandContext, CommandResult

_INIT = """\
Write AGENTS.md in the project's root, for agents and people who are new here, or improve the one that exists.
Look first: the README, the build and test files, the layout of the source, and one or two typical files.
Keep it under one page: what the project is, how to set up, build, test and lint it (commands that you checked against \
the project's own files), where things are, and the conventions that are not obvious. State only what you saw."""

_REVIEW = """\
Review {what}. Read the changed code and what it touches.
Report what is wrong or risky first (bugs, broken edge cases, security, lost data, missing tests), each with file and \
line, why it matters, and the smallest fix; then what could be simpler. Say so if there is nothing. Change no files."""

_UNCOMMITTED = "the uncommitted changes of this project (`git status`, `git diff HEAD`)"


class Init:
    """Has the model describe the project in AGENTS.md."""

    name = "init"
    description = "Write or improve AGENTS.md, the project's notes for agents"
    hint = None

    async def run(self, argument: str, context: CommandContext) -> CommandResult:  # noqa: ARG002 - takes none
        """See `Command`."""
        return Asks(prompt=_INIT)


class Review:
    """Has the model review changes."""

    name = "review"
    description = "Review the uncommitted changes, or what you name"
    hint = "[what]"

    async def run(self, argument: str, context: CommandContext) -> CommandResult:  # noqa: ARG002 - the model looks itself
        """See `Command`."""
        return Asks(prompt=_REVIEW.format(what=argument or _UNCOMMITTED))
