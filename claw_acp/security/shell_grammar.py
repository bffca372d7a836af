"""The tables of the shell's grammar that the parser uses."""

import re

from claw_acp.security.shell_command import names

CONTROL = re.compile(r"[^\S \t\n]|[\x00-\x08\x0b-\x1f\x7f]")
JOINED_LINES = re.compile(r"[^ \t\n]\\\n")
_TRAPS = (
    (re.compile(r"(?:\A|\n)[ \t]*\\\n"), "a backslash stands alone in a line"),
    (re.compile(r"`"), "an old-style substitution may hide a command"),
    (re.compile(r"\$\{[^}\n]{0,200}[{'\"$@(]"), "an expansion inside another, or of a kind that evaluates text"),
    (re.compile(r"\$\{!|\(\("), "arithmetic and indirect names evaluate text"),
    (re.compile(r"\b(?:for|select)\s+[A-Z_]*[A-Z]"), "a loop changes a variable that programs may read"),
    (re.compile(r"[\w-]\s*\(\s*\)"), "a function may take the name of a program"),
    (re.compile(r"\b(?:printf\s+-v|mapfile|readarray|getopts)\b"), "a builtin sets variables"),
)
"""Cases where parsers have disagreed with bash, or bash evaluates a text that was built at run time."""

SAFE_GAP = re.compile(rb"(?:[ \t\n]|\\\n)*")
DELIMITER = re.compile(r"\w+|'\w+'|\"\w+\"")
RUNS_LATER = re.compile(r"\$\(|`|<\(")

# The status of the last command, the number of arguments and a process id (`$$`) are always digits.
KNOWN_VARIABLES = {"?": "0", "#": "0", "": "0", "HOME": "~", "PWD": "."}
EVALUATING_BUILTINS = names("let test [ declare typeset local export readonly printf unset read mapfile wait")
RESERVED = names(
    """! { } [[ ]] (( )) if then elif else fi for while until do done case esac in select function
    foreach repeat noglob nocorrect -"""  # those of zsh; it also takes `=name` for a program
)
SPLITTING = frozenset({"&&", "||", "<", ">", "|", "&", ";"})

# Syntax that runs nothing by itself: its children are looked at, and that is all.
STRUCTURE = names(
    """program list pipeline subshell compound_statement negated_command if_statement elif_clause else_clause do_group
    for_statement c_style_for_statement while_statement case_statement case_item function_definition test_command
    unary_expression binary_expression ternary_expression parenthesized_expression postfix_expression
    command_substitution process_substitution arithmetic_expansion expansion simple_expansion string concatenation
    array subscript brace_expression heredoc_body herestring_redirect file_redirect heredoc_redirect
    variable_assignments translated_string command_name"""
)
LEAVES = names(
    """word number raw_string ansi_c_string string_content variable_name special_variable_name test_operator regex
    extglob_pattern comment heredoc_start heredoc_content heredoc_end file_descriptor"""
)
COMPOUND = names(
    "subshell compound_statement if_statement for_statement c_style_for_statement while_statement case_statement"
)

_BRACES = re.compile(r"\{.*(,|\.\.).*\}", re.DOTALL)
_PAIR = re.compile(r"\\(.)", re.DOTALL)


def traps(line: str) -> tuple[str, ...]:
    """Reasons that a line that is not plain may run more than its syntax tree shows."""
    return tuple(reason for trap, reason in _TRAPS if trap.search(line))


def is_pattern(word: str) -> bool:
    """Return whether an unquoted word holds a wildcard."""
    return re.search(r"[*?\[]", _PAIR.sub("", word)) is not None


def expands_braces(word: str) -> bool:
    """Return whether the unquoted parts of a word hold a list (`{a,b}`) or a range (`{1..3}`)."""
    return _BRACES.search(word) is not None


def unquoted(word: str) -> str | None:
    """An unquoted word without its backslashes; None if braces expand it to several."""
    return None if expands_braces(word) else _PAIR.sub(r"\1", word)


def unescaped(source: bytes) -> str:
    """The text of a part of a double-quoted string."""
    return re.sub(r'\\([\\"$`])', r"\1", source.decode(errors="replace").replace("\\\n", ""))


def substitutes(text: bytes) -> bool:
    """Return whether text that bash expands holds an unescaped `$(` or backquote."""
    return re.search(rb"\$\(|`", re.sub(rb"\\.", b"", text, flags=re.DOTALL)) is not None
