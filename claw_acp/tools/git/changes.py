"""Changing a repository: commits, branches, working trees."""

from typing import Literal

from claw_acp.contracts.tool import CallDraft, Invocation, ToolContext
from claw_acp.tools.git.command import git_line, git_run, revision
from claw_acp.tools.parameters import Parameters, TypedTool, argument


class CommitParameters(Parameters):
    """A message, and the files to stage before."""

    message: str = argument(min_length=1, max_length=20_000, description="Message: a line, then what it explains.")
    paths: list[str] = argument(
        default_factory=list,
        max_length=500,
        description="Files or directories to stage first, deleted ones too. Without any, what is staged is committed.",
    )


class GitCommit(TypedTool[CommitParameters]):
    """Makes a commit."""

    name = "git_commit"
    description = "Stage files and commit all that is staged (git add, git commit). Hooks of the repository run."
    parameters = CommitParameters
    draft = CallDraft(kind="execute", verb="Commit", subject="message")
    on_demand = True

    def bind(self, parameters: CommitParameters, context: ToolContext) -> Invocation:
        """The invocation of one commit."""
        line = git_line("commit", "-m", parameters.message)
        if parameters.paths:
            line = f"{git_line('add', '--all', paths=parameters.paths)} && {line}"
        title = f"Commit: {parameters.message.strip().partition(chr(10))[0]}"
        return git_run(line, context=context, title=title, kind="execute", paths=parameters.paths)


class BranchParameters(Parameters):
    """An action and its branch."""

    action: Literal["list", "create", "switch", "delete"] = argument(
        default="list",
        description="list: all branches with their last commits. create: make it and switch to it. switch: to one that "
        "exists. delete: one that is merged.",
    )
    name: str | None = argument(default=None, min_length=1, max_length=200, description="The branch; not for list.")
    start: str | None = argument(default=None, max_length=300, description="Commit to create it at; by default HEAD.")

    def conflict(self) -> str:
        """See `Parameters`."""
        return "`name` is needed, unless the action is list" if self.action != "list" and not self.name else ""


class GitBranch(TypedTool[BranchParameters]):
    """Lists, makes, changes and deletes branches."""

    name = "git_branch"
    description = "List branches, create one, switch to one, or delete one that is merged (git branch, git switch)."
    parameters = BranchParameters
    draft = CallDraft(kind="execute", verb="git branch", subject="name")
    on_demand = True

    def bind(self, parameters: BranchParameters, context: ToolContext) -> Invocation:
        """The invocation of one action."""
        if parameters.action == "list":
            return git_run(git_line("branch", "--all", "--verbose"), context=context)
        name = revision(parameters.name or "", name="name")
        start = [revision(parameters.start, name="start")] if parameters.start else []
        line = {
            "create": git_line("switch", "--create", name, *start),
            "switch": git_line("switch", name),
            "delete": git_line("branch", "--delete", name),
        }[parameters.action]
        return git_run(line, context=context, kind="execute")


class WorktreeParameters(Parameters):
    """An action and its working tree."""

    action: Literal["list", "add", "remove"] = argument(
        default="list",
        description="list: all working trees. add: another one in `path`, on `branch`. remove: the one in `path`, if "
        "all is committed.",
    )
    path: str | None = argument(
        default=None, min_length=1, max_length=1_000, description="Its directory; not for list."
    )
    branch: str | None = argument(default=None, max_length=200, description="For add: the branch.")
    create: bool = argument(default=False, description="For add: create the branch at the present commit.")

    def conflict(self) -> str:
        """See `Parameters`."""
        if self.action != "list" and not self.path:
            return "`path` is needed, unless the action is list"
        return "`branch` is needed to add a working tree" if self.action == "add" and not self.branch else ""


class GitWorktree(TypedTool[WorktreeParameters]):
    """Lists, adds and removes working trees."""

    name = "git_worktree"
    description = "List the working trees of a repository, add one on a branch, or remove one (git worktree)."
    parameters = WorktreeParameters
    draft = CallDraft(kind="execute", verb="git worktree", subject="path", is_path=True)
    on_demand = True

    def bind(self, parameters: WorktreeParameters, context: ToolContext) -> Invocation:
        """The invocation of one action."""
        if parameters.action == "list":
            return git_run(git_line("worktree list"), context=context)
        path = str(context.workspace.locate(parameters.path or ""))
        if parameters.action == "remove":
            return git_run(git_line("worktree remove", path), context=context, kind="execute", paths=[path])
        branch = revision(parameters.branch or "", name="branch")
        words = ["-b", branch, path] if parameters.create else [path, branch]
        return git_run(git_line("worktree add", *words), context=context, kind="execute", paths=[path])
