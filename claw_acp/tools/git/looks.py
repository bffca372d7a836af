"""Looking at a repository: its state, differences, history, and who wrote a line."""

from claw_acp.contracts.tool import CallDraft, Invocation, ToolContext
from claw_acp.tools.git.command import git_line, git_run, revision
from claw_acp.tools.parameters import Parameters, TypedTool, argument

_PATHS = "Only these files or directories, relative to the session's directory."


class StatusParameters(Parameters):
    """The files whose state is shown."""

    paths: list[str] = argument(default_factory=list, max_length=100, description=_PATHS)


class GitStatus(TypedTool[StatusParameters]):
    """Shows the state of the working tree."""

    name = "git_status"
    description = (
        "The branch and the uncommitted changes: files that are changed, staged, new or in conflict (git status)."
    )
    parameters = StatusParameters
    draft = CallDraft(kind="read", verb="git status")
    parallel = True
    on_demand = True

    def bind(self, parameters: StatusParameters, context: ToolContext) -> Invocation:
        """The invocation of one look."""
        line = git_line("status", "--short", "--branch", paths=parameters.paths)
        return git_run(line, context=context, paths=parameters.paths)


class DiffParameters(Parameters):
    """The two sides of a comparison."""

    revision: str | None = argument(
        default=None,
        max_length=300,
        description="Commit to compare the files with (HEAD, main), or a range such as main...HEAD; by default the "
        "staged state.",
    )
    staged: bool = argument(default=False, description="Compare what is staged for the next commit.")
    summary: bool = argument(default=False, description="Only the names of files and how many lines changed.")
    paths: list[str] = argument(default_factory=list, max_length=100, description=_PATHS)


class GitDiff(TypedTool[DiffParameters]):
    """Shows differences."""

    name = "git_diff"
    description = "Differences as a patch: of files since they were staged, or with a commit, or of commits (git diff)."
    parameters = DiffParameters
    draft = CallDraft(kind="read", verb="git diff")
    parallel = True
    on_demand = True

    def bind(self, parameters: DiffParameters, context: ToolContext) -> Invocation:
        """The invocation of one comparison."""
        words = ["--cached"] if parameters.staged else []
        words += ["--stat"] if parameters.summary else []
        words += [revision(parameters.revision, name="revision")] if parameters.revision else []
        return git_run(git_line("diff", *words, paths=parameters.paths), context=context, paths=parameters.paths)


class LogParameters(Parameters):
    """The commits to list."""

    revision: str | None = argument(
        default=None, max_length=300, description="Commit to begin at, or a range such as main..HEAD; by default HEAD."
    )
    limit: int = argument(default=20, ge=1, le=200, description="How many commits at most, the newest first.")
    search: str | None = argument(default=None, max_length=300, description="Only those with this text in the message.")
    author: str | None = argument(default=None, max_length=200, description="Only those by this author.")
    since: str | None = argument(
        default=None, max_length=100, description="Only those after this time, such as 2026-01-31 or 2.weeks.ago."
    )
    changes: bool = argument(default=False, description="With what each commit changed, as a patch.")
    paths: list[str] = argument(default_factory=list, max_length=100, description=_PATHS)


class GitLog(TypedTool[LogParameters]):
    """Lists commits."""

    name = "git_log"
    description = (
        "The history: commits with hash, date, author, branches and message (git log); with `changes`, what each did."
    )
    parameters = LogParameters
    draft = CallDraft(kind="read", verb="git log")
    parallel = True
    on_demand = True

    def bind(self, parameters: LogParameters, context: ToolContext) -> Invocation:
        """The invocation of one list."""
        words = ["-n", str(parameters.limit), "--date=iso"]
        words += ["--patch", "--stat"] if parameters.changes else ["--format=%h %ad %an%d%n    %s"]
        words += [f"--grep={parameters.search}", "--fixed-strings", "-i"] if parameters.search else []
        words += [f"--author={parameters.author}"] if parameters.author else []
        words += [f"--since={parameters.since}"] if parameters.since else []
        words += [revision(parameters.revision, name="revision")] if parameters.revision else []
        shown = [word for word in words if not word.startswith(("--format=", "--date="))]
        title = git_line("log", *shown, paths=parameters.paths)
        line = git_line("log", *words, paths=parameters.paths)
        return git_run(line, context=context, title=title, paths=parameters.paths)


class BlameParameters(Parameters):
    """A file, and some of its lines."""

    path: str = argument(min_length=1, description="File, relative to the session's directory.")
    line: int | None = argument(default=None, ge=1, description="First line; by default the whole file.")
    limit: int = argument(default=50, ge=1, le=2_000, description="How many lines from there.")
    revision: str | None = argument(default=None, max_length=300, description="Commit; by default the present file.")


class GitBlame(TypedTool[BlameParameters]):
    """Shows who changed each line last."""

    name = "git_blame"
    description = "The commit, author and date that changed each line of a file last (git blame)."
    parameters = BlameParameters
    draft = CallDraft(kind="read", verb="git blame", subject="path", is_path=True)
    parallel = True
    on_demand = True

    def bind(self, parameters: BlameParameters, context: ToolContext) -> Invocation:
        """The invocation of one look."""
        words = ["--date=short"]
        words += [f"-L{parameters.line},+{parameters.limit}"] if parameters.line else []
        words += [revision(parameters.revision, name="revision")] if parameters.revision else []
        return git_run(git_line("blame", *words, paths=[parameters.path]), context=context, paths=[parameters.path])
