"""Text of strangers on a terminal: what could move the cursor or hide a line is shown, not obeyed."""


def printable(text: str) -> str:
    r"""`text` on one line, with every character that is not printable written as an escape (`\x1b`)."""
    if text.isprintable():
        return text
    return "".join(mark if mark.isprintable() else mark.encode("unicode_escape").decode() for mark in text)


def full_sentence(text: str) -> str:
    """`text` with a full stop, unless it ends like a sentence already: another may follow."""
    return text if text.endswith((".", "!", "?", "…")) else f"{text}."
