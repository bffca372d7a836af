"""Reads a command line as bash would, and lists every command it can run.

The grammar is tree-sitter's. Wherever the grammar and bash could disagree about what is run, or a part is known only
at run time, the line is marked with a doubt rather than guessed at.
"""

import re
from collections.abc import Iterator

import tree_sitter_bash
from tree_sitter import Language, Node, Parser

from claw_acp.security import shell_grammar as grammar
from claw_acp.security.shell_command import ParsedLine, Redirect, SimpleCommand
from claw_acp.security.shell_wrappers import unwrap

LONGEST_LINE = 16_384  # characters; longer ones are asked about, not parsed
DEEPEST_TREE = 120  # levels of syntax: two Python frames each, far from the interpreter's limit
DEEPEST_NESTING = 5  # `sh -c` inside `sh -c` and wrappers around wrappers
MOST_COMMANDS = 256

_LANGUAGE = Language(tree_sitter_bash.language())


def parse(line: str, *, nesting: int = 0) -> ParsedLine:
    """List what `line` runs. Never raises: what cannot be read becomes a doubt."""
    if len(line) > LONGEST_LINE:
        return ParsedLine(commands=(), misread=True, doubts=(f"it is longer than {LONGEST_LINE} characters",))
    if grammar.CONTROL.search(line):
        return ParsedLine(commands=(), misread=True, doubts=("it contains control characters or unusual spaces",))
    try:
        source = line.encode()
    except UnicodeEncodeError:
        return ParsedLine(commands=(), misread=True, doubts=("it is not valid text",))
    root = Parser(_LANGUAGE).parse(source).root_node
    reading = _Reading(source, nesting=nesting)
    if root.has_error:
        reading.doubt("its syntax could not be understood")
    if grammar.JOINED_LINES.search(line):
        reading.doubt("a backslash joins two lines in the middle of a word")
    if not reading.too_deep(root):
        reading.check_gaps(root)
        reading.walk(root, piped=False)
    return reading.result()


def opened(command: SimpleCommand) -> ParsedLine:
    """List what one command runs: itself, or what it wraps."""
    reading = _Reading(b"", nesting=0)
    reading.add(command)
    return reading.result()


class _Reading:
    """One pass over one syntax tree."""

    def __init__(self, source: bytes, *, nesting: int) -> None:
        self._source = source
        self._nesting = nesting
        self.commands: list[SimpleCommand] = []
        self.written: list[SimpleCommand] = []
        self.doubts: list[str] = []
        self.misread = False

    def result(self) -> ParsedLine:
        """Return the parsed line: the commands and doubts that were found."""
        return ParsedLine(
            commands=tuple(self.commands[:MOST_COMMANDS]),
            written=tuple(self.written),
            misread=self.misread,
            doubts=tuple(dict.fromkeys(self.doubts)),
        )

    def doubt(self, reason: str) -> None:
        """Note a reason that bash may parse the line differently."""
        self.misread = True
        self.doubts.append(reason)

    def _caution(self, reason: str) -> None:
        """Note a reason that a command may run more than is listed."""
        self.doubts.append(reason)

    def _text(self, node: Node) -> str:
        return self._source[node.start_byte : node.end_byte].decode(errors="replace")

    def too_deep(self, root: Node) -> bool:
        level = [root]
        for _ in range(DEEPEST_TREE):
            level = [child for node in level for child in node.children]
            if not level:
                return False
        self.doubt("it is nested too deeply")
        return True

    def check_gaps(self, root: Node) -> None:
        """Check that only blanks are between two leaves of the tree: anything else was skipped by the grammar."""
        position = 0
        for leaf in _leaves(root):
            if not grammar.SAFE_GAP.fullmatch(self._source, position, max(position, leaf.start_byte)):
                self.doubt("part of it was not understood")
                return
            position = max(position, leaf.end_byte)
        if not grammar.SAFE_GAP.fullmatch(self._source, position):
            self.doubt("its end was not understood")

    # -------------------------------------------------------------- walking

    def walk(self, node: Node, *, piped: bool) -> None:
        """Collect the commands at and below `node`; `piped` when they get input from another command or a file."""
        match node.type:
            case "command":
                self._command(node, redirects=(), extra=(), piped=piped)
            case "declaration_command" | "unset_command":
                self._declaration(node)
            case "redirected_statement":
                self._redirected(node, piped=piped)
            case "variable_assignment":
                self.add(SimpleCommand(argv=(), env_prefix=(self._assignment(node),)))
                self._walk_children(node, piped=False)
            case "pipeline":
                for index, child in enumerate(node.named_children):
                    self.walk(child, piped=piped or index > 0)
            case kind if kind in grammar.STRUCTURE:
                self._check_structure(node)
                self._walk_children(node, piped=piped)
            case kind if node.is_named and kind not in grammar.LEAVES:
                self.doubt("its syntax could not be understood")
            case _:
                pass

    def _walk_children(self, node: Node, *, piped: bool) -> None:
        for child in node.named_children:
            self.walk(child, piped=piped)

    def _check_structure(self, node: Node) -> None:
        # bash evaluates array subscripts inside arithmetic and `-v` tests, even those that came from a quoted text
        if node.type in {"test_command", "arithmetic_expansion"} and any(
            leaf.type in {"raw_string", "ansi_c_string"} and grammar.RUNS_LATER.search(self._text(leaf))
            for leaf in _leaves(node)
        ):
            self.doubt("a quoted text in a test may be evaluated")
        opening = node.children[0].type if node.children else ""
        # A plain sh has neither: it takes `((a))` for two subshells, and splits `[[ a && b ]]` into two commands.
        if opening == "((" or (
            opening in {"[[", "["} and any(leaf.type in grammar.SPLITTING for leaf in _leaves(node))
        ):
            self.doubt("shells disagree about what it means")
        if node.type in {"string", "heredoc_body"} and self._hides_substitution(node):
            self.doubt("a substitution inside a text was not understood")

    def _hides_substitution(self, node: Node) -> bool:
        """Return whether text that bash would expand holds a `$(` or backquote that the grammar took for plain text."""
        start = node.prev_sibling
        while start is not None and start.type != "heredoc_start":
            start = start.prev_sibling
        if node.type == "heredoc_body" and start is not None and not self._text(start)[:1].isalnum():
            return False  # a quoted delimiter: bash expands nothing
        text, position = b"", node.start_byte
        for child in node.named_children:
            if child.type not in {"string_content", "heredoc_content"}:
                text += self._source[position : child.start_byte]
                position = child.end_byte
        text += self._source[position : node.end_byte]
        return grammar.substitutes(text)

    def _redirected(self, node: Node, *, piped: bool) -> None:
        body = node.child_by_field_name("body")
        redirects: list[Redirect] = []
        extra: list[Node] = []
        for child in node.children_by_field_name("redirect"):
            redirect, words = self._redirect(child)
            redirects += redirect
            extra += words
        feeds = any(redirect.operator.startswith("<") for redirect in redirects)
        if body is not None and body.type == "command":
            self._command(body, redirects=tuple(redirects), extra=tuple(extra), piped=piped)
        else:
            if extra:
                self.doubt("words follow a redirection without a command")
            self.add(SimpleCommand(argv=(), redirects=tuple(redirects)))
            if body is not None:
                self.walk(body, piped=piped or (feeds and body.type in grammar.COMPOUND))
        for child in node.children_by_field_name("redirect"):
            self._walk_redirect(child)

    def _walk_redirect(self, node: Node) -> None:
        """Collect the commands inside a redirection: substitutions, and those that follow `<<EOF` on its line."""
        for child in node.named_children:
            if child.type == "pipeline":
                for part in child.named_children:
                    self.walk(part, piped=True)  # `cat <<EOF | sh`: the grammar hangs the rest of the pipe here
            else:
                self.walk(child, piped=False)

    def _redirect(self, node: Node) -> tuple[list[Redirect], list[Node]]:
        """The redirections of one node, and the command words that the grammar put behind them."""
        if node.type == "herestring_redirect":
            return [Redirect(operator="<<<", target=None, writes=False)], []
        if node.type == "heredoc_redirect":
            return self._heredoc(node)
        operator = next((child.type for child in node.children if not child.is_named), "")
        destinations = node.children_by_field_name("destination")
        if operator in {">&-", "<&-"} or not destinations:
            return [], destinations
        first, *extra = destinations
        target, pattern = self._word(first)
        if operator in {">&", "<&"} and target is not None and re.fullmatch(r"\d+-?", target):
            return [], extra
        writes = ">" in operator
        return [Redirect(operator=operator, target=None if pattern else target, writes=writes)], extra

    def _heredoc(self, node: Node) -> tuple[list[Redirect], list[Node]]:
        start = next((child for child in node.children if child.type == "heredoc_start"), None)
        end = next((child for child in node.children if child.type == "heredoc_end"), None)
        redirects = [Redirect(operator="<<", target=None, writes=False)]
        if start is None or end is None or not self._ends_where_bash_ends_it(start, end):
            self.doubt("a here-document could not be understood")
        extra = list(node.children_by_field_name("argument"))
        for child in node.children_by_field_name("redirect"):
            found, words = self._redirect(child)
            redirects += found
            extra += words
        return redirects, extra

    def _ends_where_bash_ends_it(self, start: Node, end: Node) -> bool:
        delimiter = self._text(start)
        if not grammar.DELIMITER.fullmatch(delimiter):
            return False
        rows = self._source.decode().split("\n")
        for row in range(start.start_point.row + 1, len(rows)):
            if rows[row].lstrip("\t") == delimiter.strip("'\""):
                return row == end.start_point.row
        return False

    # -------------------------------------------------------------- commands

    def _command(self, node: Node, *, redirects: tuple[Redirect, ...], extra: tuple[Node, ...], piped: bool) -> None:
        argv: list[str | None] = []
        patterns: set[int] = set()
        prefix: list[str | None] = []
        found = list(redirects)
        for child in (*node.named_children, *extra):
            match child.type:
                case "variable_assignment":
                    prefix.append(self._assignment(child))
                case "file_redirect" | "herestring_redirect" | "heredoc_redirect":
                    more, words = self._redirect(child)
                    found += more
                    if words:
                        self.doubt("words follow a redirection")
                case "comment":
                    pass
                case _:
                    word, pattern = self._word(child.named_children[0] if child.type == "command_name" else child)
                    if pattern:
                        patterns.add(len(argv))
                    argv.append(word)
        fed = any(redirect.operator.startswith("<") for redirect in found)
        command = SimpleCommand(
            argv=tuple(argv),
            patterns=frozenset(patterns),
            redirects=tuple(found),
            env_prefix=tuple(prefix),
            piped=piped or fed,
        )
        self.add(command)
        for child in node.named_children:
            if child.type == "variable_assignment":
                self._walk_children(child, piped=False)
            else:
                self.walk(child, piped=False)

    def _declaration(self, node: Node) -> None:
        argv: list[str | None] = [node.children[0].type]
        for child in node.named_children:
            argv.append(self._assignment(child) if child.type == "variable_assignment" else self._word(child)[0])
            self._walk_children(child, piped=False)
        self.add(SimpleCommand(argv=tuple(argv)))

    def add(self, command: SimpleCommand, *, nesting: int | None = None) -> None:
        """List a command; the commands that a wrapper starts replace it, or follow it."""
        depth = self._nesting if nesting is None else nesting
        if nesting is None:
            self.written.append(command)
        if len(self.commands) >= MOST_COMMANDS or depth > DEEPEST_NESTING:
            self._caution("it runs too many commands, or wraps them too deeply")
            return
        if command.argv and (command.argv[0] in grammar.RESERVED or (command.argv[0] or "").startswith("=")):
            self._caution("a word of the shell's own syntax was taken for a program")  # `! { a; }`, `time if ...`
        if command.argv and (command.argv[0] is None or 0 in command.patterns):
            self._caution("the name of a program is known only when it runs")
        if (
            command.argv
            and command.argv[0] in grammar.EVALUATING_BUILTINS
            and any(grammar.RUNS_LATER.search(word or "") for word in command.argv)
        ):
            self._caution("a quoted text may be evaluated")
        opened = unwrap(command)
        if opened is None:
            self.commands.append(command)
            return
        self.doubts += opened.doubts
        if opened.kept:
            self.commands.append(command)
        for inner in opened.commands:
            self.add(inner, nesting=depth + 1)
        for code in opened.codes:
            self._code(code, within=command, nesting=depth + 1, elevated=opened.elevated or command.elevated)

    def _code(self, code: str, *, within: SimpleCommand, nesting: int, elevated: bool) -> None:
        parsed = parse(code, nesting=nesting) if nesting <= DEEPEST_NESTING else None
        if parsed is None:
            self._caution("it wraps shells too deeply")
            return
        self.doubts += parsed.doubts
        for inner in parsed.commands:
            self.commands.append(
                SimpleCommand(
                    argv=inner.argv,
                    patterns=inner.patterns,
                    redirects=inner.redirects,
                    env_prefix=(*within.env_prefix, *inner.env_prefix),
                    piped=inner.piped or within.piped,
                    elevated=inner.elevated or elevated,
                )
            )

    # -------------------------------------------------------------- words

    def _assignment(self, node: Node) -> str | None:
        """`NAME=value`, or None when the value is known only at run time."""
        name = node.child_by_field_name("name")
        value = node.child_by_field_name("value")
        if name is None or name.type != "variable_name":
            return None
        text = "" if value is None else self._word(value)[0]
        if self._text(name) in grammar.KNOWN_VARIABLES:
            self.doubt("a variable that stands for a directory is changed")
        if text is None:
            return f"{self._text(name)}=\0"  # the name is known: whether it matters can still be judged
        if grammar.RUNS_LATER.search(text):
            self.doubt("a variable is set to a text that may be evaluated")
        return f"{self._text(name)}={text}"

    def _word(self, node: Node) -> tuple[str | None, bool]:
        """A word after quote removal (None: known only at run time), and whether it is a wildcard pattern."""
        raw = self._text(node)
        match node.type:
            case "word" | "number":
                return grammar.unquoted(raw), grammar.is_pattern(raw)
            case "raw_string":
                return raw[1:-1], False
            case "ansi_c_string":
                return (None if "\\" in raw else raw[2:-1]), False
            case "string":
                return self._string(node, raw), False
            case "simple_expansion" | "expansion":
                return grammar.KNOWN_VARIABLES.get(raw.strip("${}")), False
            case "concatenation":
                return self._concatenation(node)
            case _:
                return None, False

    def _string(self, node: Node, raw: str) -> str | None:
        if not raw.startswith('"'):
            return None
        text, position = "", node.start_byte + 1
        for child in node.named_children:
            if child.type == "string_content":
                continue
            value = self._word(child)[0]
            if value is None:
                return None
            text += grammar.unescaped(self._source[position : child.start_byte]) + value
            position = child.end_byte
        return text + grammar.unescaped(self._source[position : node.end_byte - 1])

    def _concatenation(self, node: Node) -> tuple[str | None, bool]:
        unquoted = "".join(self._text(child) for child in node.children if child.type in {"word", "number"})
        if grammar.expands_braces(unquoted) or any(not child.is_named for child in node.children):
            return None, False
        words = [self._word(child) for child in node.children]
        position = node.start_byte
        for child in node.children:
            if child.start_byte != position:
                return None, False
            position = child.end_byte
        pattern = any(is_pattern for _, is_pattern in words)
        texts = [text for text, _ in words if text is not None]
        return ("".join(texts) if len(texts) == len(words) else None), pattern


def _leaves(node: Node) -> Iterator[Node]:
    stack = [node]
    while stack:
        current = stack.pop()
        if current.child_count and current.type != "heredoc_body":  # its plain text has no nodes
            stack += reversed(current.children)
        else:
            yield current
