"""Uses of git that only read. The effect of the repository's own configuration is judged in `repository`."""

import re
from collections.abc import Mapping, Sequence

from claw_acp.core.value import Value, replace
from claw_acp.security.read_only.options import Operand, Words, option_table, read_words
from claw_acp.security.shell_command import names

_DIFF = (
    "-pusabwzRWMCB -U: -S: -G: -l: --stat? --numstat --shortstat --dirstat? --summary --name-only "
    "--name-status --patch "
    "--no-patch --raw --unified= --color? --no-color --word-diff? --word-diff-regex= --color-words? --color-moved? "
    "--ignore-all-space --ignore-space-change --ignore-space-at-eol --ignore-blank-lines --diff-filter= "
    "--find-renames? "
    "--find-copies? --no-renames --minimal --patience --histogram --diff-algorithm= --abbrev? --no-abbrev --full-index "
    "--relative? --exit-code --quiet --check --text --function-context --inter-hunk-context= --no-prefix --src-prefix= "
    "--dst-prefix= --no-ext-diff --no-textconv --pickaxe-regex --pickaxe-all --patch-with-stat --cc -c -m -t -r --root "
    "--binary --compact-summary --line-prefix= --ita-invisible-in-index --default-prefix --merge-base --find-object="
)
_LOG = (
    f"{_DIFF} -iEFPLg -n: digits --oneline --graph --decorate? --no-decorate --all --branches? --tags? "
    f"--remotes? --since= "
    "--after= --until= --before= --author= --committer= --grep= --all-match --invert-grep --regexp-ignore-case "
    "--extended-regexp --fixed-strings --perl-regexp --max-count= --skip= --merges --no-merges --first-parent "
    "--reverse "
    "--date-order --author-date-order --topo-order --pretty? --format= --abbrev-commit --no-abbrev-commit --date= "
    "--relative-date --follow --full-history --simplify-by-decoration --simplify-merges --left-right --left-only "
    "--right-only --cherry --cherry-pick --cherry-mark --ancestry-path? --parents --children --boundary --walk-reflogs "
    "--source --mailmap --use-mailmap --no-walk? --no-notes --encoding= --count --min-parents= --max-parents= --not "
    "--dense --sparse --decorate-refs= --decorate-refs-exclude= --exclude= --no-mailmap --notes? --no-color-moved -L:"
)
_LISTING = (
    "--list --sort= --format= --contains? --no-contains? --merged? --no-merged? --points-at= --column? --no-column "
    "--color? --no-color --ignore-case"
)

_COMMANDS: Mapping[str, str] = {
    "status": (
        "-sbvz -u? --short --branch --porcelain? --long --verbose --untracked-files? --ignored? --column? --no-column "
        "--show-stash --ahead-behind --no-ahead-behind --renames --no-renames --find-renames?"
    ),
    "diff": f"{_DIFF} --cached --staged",
    "diff-tree": f"{_DIFF} --no-commit-id",
    "diff-index": f"{_DIFF} --cached",
    "diff-files": _DIFF,
    "log": _LOG,
    "show": _LOG,
    "rev-list": f"{_LOG} --objects --timestamp --disk-usage? --no-commit-header",
    "shortlog": f"{_LOG} -sneci --summary --numbered --email --group= --committer",
    "blame": (
        "-LltwefnspcCM -L: --porcelain --line-porcelain --since= --date= --abbrev= --root --show-stats --show-name "
        "--show-number --show-email --score-debug --color-lines --color-by-age --first-parent --ignore-rev="
    ),
    "annotate": "-ltwefns -L: --since= --date= --abbrev= --root",
    "describe": (
        "--tags --all --always --dirty? --long --abbrev= --match= --exclude= --candidates= --contains --exact-match "
        "--first-parent --broken?"
    ),
    "rev-parse": (
        "-q --abbrev-ref? --short? --show-toplevel --show-prefix --show-cdup --git-dir --git-common-dir "
        "--absolute-git-dir --is-inside-work-tree --is-inside-git-dir --is-bare-repository --is-shallow-repository "
        "--verify --quiet --symbolic --symbolic-full-name --all --branches? --tags? --remotes? --git-path= "
        "--show-superproject-working-tree --revs-only --no-revs --flags --no-flags --since= --until= --path-format="
    ),
    "ls-files": (
        "-cdmoisutzkv -x: --cached --deleted --modified --others --ignored --stage --exclude-standard "
        "--unmerged --killed "
        "--error-unmatch --full-name --directory --no-empty-directory --eol --deduplicate --exclude= --abbrev? "
        "--format="
    ),
    "ls-tree": "-rdtlz --name-only --name-status --long --full-name --full-tree --abbrev? --object-only --format=",
    "cat-file": "-ptse --allow-unknown-type",
    "name-rev": "--tags --refs= --exclude= --all --name-only --no-undefined --always",
    "merge-base": "-a --all --octopus --independent --is-ancestor --fork-point",
    "for-each-ref": (
        "--format= --sort= --count= --points-at= --merged? --no-merged? --contains? --no-contains? "
        "--ignore-case --color? "
        "--omit-empty --exclude="
    ),
    "show-ref": "-dsq --heads --branches --tags --dereference --hash? --abbrev? --verify --quiet --head --exists",
    "count-objects": "-vH --verbose --human-readable",
    "grep": (
        "-nilLcwEFGPvoHhWpqaIz -e:! -A: -B: -C: -m: --cached --untracked --name-only --files-with-matches "
        "--files-without-match --count --line-number --column --ignore-case --word-regexp --invert-match "
        "--extended-regexp --basic-regexp --fixed-strings --perl-regexp --only-matching --heading --break "
        "--and --or --not "
        "--max-depth= --all-match --quiet --show-function --function-context --after-context= --before-context= "
        "--context= --color? --no-color --full-name --null --text --exclude-standard --no-exclude-standard "
        "--max-count= "
        "--threads= --recursive --no-recursive : text,path"
    ),
    "cherry": "-v --abbrev?",
    "version": "--build-options : none",
    "check-ignore": "-vnq --verbose --non-matching --quiet --no-index",
    "check-attr": "-a --all --cached",
    "branch": f"-arv -vv {_LISTING} --all --remotes --verbose --show-current --abbrev= --no-abbrev",
    "tag": f"-l -n? {_LISTING}",
    "remote": "-v --verbose --all --push : text",
    "stash": _LOG,
    "worktree": "-vz --porcelain --verbose",
    "config": (
        "-lz --get --get-all --get-regexp --list --local --global --system --worktree --show-origin "
        "--show-scope --name-only "
        "--null --bool --int --path --type= --default= --includes --no-includes --all --regexp : text"
    ),
    "reflog": _LOG,
}
_ASKS = names("--list --contains --no-contains --merged --no-merged --points-at")  # names are patterns then, not new
_SIGNATURES = re.compile(r"%G|signature|%\(trailers:.*cmd", re.IGNORECASE)  # making them runs gpg
_BEFORE = names("--no-pager -P --no-optional-locks --literal-pathspecs")
_SETTING = re.compile(
    r"(?i)(?:color\.[a-z.]+|advice\.[a-z]+|core\.quotepath|column\.[a-z]+|pager\.[a-z]+)=(?:true|false|always|never|auto)"
    r"|core\.pager=cat"
)


_SHOWS_FILES = names("show diff diff-tree diff-index diff-files grep blame annotate cat-file stash")
_SHOWS_NAMES = names("--stat --numstat --shortstat --name-only --name-status --summary --dirstat")
_PATCHES = names(
    "-p -u -U -S -G -c -m -W --patch --patch-with-stat --cc --unified --word-diff --color-words --binary -L"
)


class GitLook(Value):
    """A use of git that only reads.

    Attributes:
        words: Its parsed arguments.
        directory: Its directory, from `-C`; empty for the line's.
        subcommand: The subcommand.
    """

    words: Words
    directory: str
    subcommand: str

    @property
    def shows_files(self) -> bool:
        """True if the command may print contents of files, present or past."""
        patches = bool(self.words.options & _PATCHES)
        return patches or (self.subcommand in _SHOWS_FILES and not self.words.options & _SHOWS_NAMES)


def read_git(words: Sequence[str | None], *, patterns: frozenset[int]) -> GitLook | None:
    """The use in the words after `git`; None if it may do more than read."""
    index, directory = 0, ""
    while index < len(words) and (words[index] or "").startswith("-"):
        word, following = words[index], words[index + 1] if index + 1 < len(words) else None
        if word == "-C" and following and not directory and not {index, index + 1} & patterns:
            directory, index = following, index + 2
        elif word == "-c" and following and _SETTING.fullmatch(following):
            index += 2
        elif word in _BEFORE:
            index += 1
        else:
            return None
    subcommand = words[index] if index < len(words) else None
    if subcommand is None or subcommand not in _COMMANDS or index in patterns:
        return None
    rest = words[index + 1 :]
    wild = frozenset(position - index - 1 for position in patterns if position > index)
    read = _subcommand(subcommand, rest, wild)
    if read is None or any(_SIGNATURES.search(word or "") for word in rest):
        return None
    in_history = tuple(Operand(text=path.text.partition(":")[2]) for path in read.paths if ":" in path.text[:-1])
    read = replace(read, paths=(*read.paths, *in_history))
    return GitLook(words=read, directory=directory, subcommand=subcommand)


def _subcommand(subcommand: str, rest: Sequence[str | None], wild: frozenset[int]) -> Words | None:
    if subcommand in _FIRST_WORDS:
        first = rest[0] if rest else ""
        options = subcommand == "reflog" and (first or "").startswith("-")
        if first is None or 0 in wild or not (options or first in _FIRST_WORDS[subcommand]):
            return None
        if subcommand == "remote" and first.startswith("-") and len(rest) > 1:
            return None  # `git remote -v update` fetches
        if first and first[0] != "-":
            rest, wild = rest[1:], frozenset(position - 1 for position in wild)
    read = read_words(rest, patterns=wild, table=replace(option_table(_COMMANDS[subcommand]), unsure=True))
    if read is None:
        return None
    if subcommand in {"branch", "tag"} and read.paths and not read.options & _ASKS:
        return read if subcommand == "tag" and "-l" in read.options else None
    if subcommand == "config" and not _only_asks_config(rest, read):
        return None
    return read


def _only_asks_config(rest: Sequence[str | None], read: Words) -> bool:
    if read.options & names("--get --get-all --get-regexp"):
        return len(read.texts) <= 2  # a name and a pattern for values
    if read.options & names("--list -l"):
        return not read.texts
    return bool(rest) and read.texts[:1] in {("get",), ("list",)}


_FIRST_WORDS: Mapping[str, frozenset[str]] = {
    "remote": frozenset({"", "-v", "--verbose", "get-url"}),
    "stash": frozenset({"list", "show"}),
    "worktree": frozenset({"list"}),
    "reflog": frozenset({"", "show"}),
}
"""The words that must follow a subcommand that can also change things."""
