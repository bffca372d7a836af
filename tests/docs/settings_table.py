"""The table of settings in the README, made of the program's own. `python -m tests.docs.settings_table` writes it."""

from collections.abc import Iterator

from claw_acp.config.documentation import KeyRow, key_rows
from tests.docs.pages import README, text_of

START, END = "<!-- settings:start -->\n", "<!-- settings:end -->"


def markdown() -> str:
    rows = [row for row in key_rows() if row.in_file]
    return "\n".join(
        ["| Key | Takes | |", "|---|---|---|", *(f"| `{row.key}` | {_takes(row)} | {row.text} |" for row in rows), ""]
    )


def between_the_marks() -> str:
    return text_of(README).partition(START)[2].partition(END)[0]


def _takes(row: KeyRow) -> str:
    return "; ".join(_facts(row))


def _facts(row: KeyRow) -> Iterator[str]:
    yield ", ".join(f"`{word}`" for word in row.takes.split(" | ")) if " | " in row.takes else row.takes
    if row.default:
        yield f"`{row.default}`"
    if row.variable:
        yield f"`{row.variable}`"
    if row.project:
        yield row.project


if __name__ == "__main__":
    before, _, rest = text_of(README).partition(START)
    README.write_text(before + START + markdown() + END + rest.partition(END)[2], encoding="utf-8")
