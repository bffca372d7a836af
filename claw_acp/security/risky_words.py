"""Words that show for any program that it destroys, publishes, or goes on without asking."""

import re
from collections.abc import Iterable

from claw_acp.security.risk import Risk, Words, unknown
from claw_acp.security.shell_command import names

_ACTIONS = names(
    """drop drops dropdb delete deletes deleteall destroy destroyall flush flushall flushdb reset resetdb deploy deploys
    undeploy redeploy publish unpublish prune purge wipe nuke erase truncate downgrade rollback revoke terminate
    uninstall fresh undo del rm rmdir unlink decommission shutdown poweroff kill upload push"""
)
_ANSWERS = names(
    """-y --yes --assume-yes --assumeyes --noinput --no-input --auto-approve --autoapprove --no-confirm --noconfirm
    --skip-confirmation --force --prod --production"""
)
_PART = re.compile(r"[A-Z]?[a-z]+|[A-Z]+")
_TEST = re.compile(r"(?i)(.*/)?(test_[^/]*|[^/]*[._]test\.\w+|[^/]*[._]spec\.\w+)")


def risky_word(words: Iterable[str]) -> str | None:
    """The first word that indicates harm, or None."""
    for word in words:
        if word.partition("=")[0].casefold() in _ANSWERS:
            return word
        if not _TEST.fullmatch(word) and any(part.casefold() in _ACTIONS for part in _PART.findall(word)):
            return word
    return None


def by_words(words: Words, *, otherwise: Risk) -> Risk:
    """The risk of an unknown program, by its words."""
    if unknown(words):
        return "high", "runs an unknown program with words that are known only when it runs"
    found = risky_word(words)
    if found:
        return "high", f"may destroy or publish something: it is told to {found[:40]}"
    return otherwise


def task_risk(words: Words, *, otherwise: Risk) -> Risk:
    """The risk of a task of the project, by its name; its options and settings do not count."""
    tasks = [word for word in words if not word.startswith("-") and "=" not in word]
    found = risky_word(tasks)
    return ("high", f"runs the task {found[:40]}, which may destroy or publish something") if found else otherwise
