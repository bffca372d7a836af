"""ripgrep's command line for a search, with the same results as our own search."""

from claw_acp.tools.search.worker import MAX_COLUMNS, MAX_FILE, SearchRequest

_ALWAYS = (
    "--no-config",
    "--no-messages",  # files that cannot be read are skipped without a word
    "--null",
    "--line-number",
    "--with-filename",
    "--no-heading",
    "--color=never",
    "--sort=path",
    "--hidden",
    "--no-require-git",
    "--no-ignore-global",
    "--no-ignore-exclude",
    "--no-ignore-dot",
    f"--max-columns={MAX_COLUMNS}",
    "--max-columns-preview",
    f"--max-filesize={MAX_FILE}",
)


def ripgrep_command(program: str, request: SearchRequest, *, parents: bool) -> list[str]:
    """The program and its arguments, to be started in the directory that the request's `glob` is relative to.

    `parents` says whether ignore files above the start count too.
    """
    options = [*_ALWAYS, f"--context={request.context}"]
    options.append("--ignore-case" if request.ignore_case else "--case-sensitive")
    if not parents:
        options.append("--no-ignore-parent")
    if request.glob is not None:
        options.append(f"--glob={request.glob}")
    options.append("--glob=!.git")
    return [program, *options, f"--regexp={request.pattern}", "--", request.start]
