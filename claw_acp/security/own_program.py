"""The agent's own program in a command line: it must not loosen its own limits."""

from claw_acp.security.risk import Risk, Words
from claw_acp.security.shell_command import names

_SETTINGS = names("login logout trust permissions")
_ACCESS = names("token pair")
_READS = {
    "config": names("show path"),
    "sessions": names("list show export replay"),
    "providers": names("list"),
    "cron": names("list show next"),
    **dict.fromkeys(names("doctor cost models schema"), None),
}
_LAUNCHERS = names(
    """python python2 python3 pypy pypy3 py uv uvx pipx poetry pdm hatch rye pipenv pixi conda mamba mise asdf nix npx
    bunx"""
)


def own_words(program: str, words: Words) -> Words | None:
    """The arguments of the agent's own program, or None for another program."""
    if _stem(program) == "claw-acp":
        return words
    if program.casefold().rstrip("0123456789.") not in _LAUNCHERS and program.casefold() not in _LAUNCHERS:
        return None
    for index, word in enumerate(words):
        module = word.removeprefix("-m") if word.startswith("-m") else ""
        named = words[index - 1] == "-m" if index else program.startswith("py")
        own = _stem(word) == "claw-acp" or word.endswith("claw_acp/__main__.py")
        if own or any(text.partition(".")[0] == "claw_acp" for text in (module, word if named else "")):
            return words[index + 1 :]
    return None


def own_risk(words: Words) -> Risk:
    """The risk of the agent's own program."""
    plain = [word for word in words if not word.startswith("-")]
    if plain[:1] and plain[0] in _READS and "test" not in plain and not refused_of_itself(words):
        return "medium", "shows the agent's own settings and records"
    if plain or not words or not {"--version", "--help", "-h"} >= set(words):
        return "high", "starts another agent, or a service of it"
    return "medium", "shows how the agent is used"


def refused_of_itself(words: Words) -> str | None:
    """The reason the agent may not run its own program with these words, or None."""
    plain = [word for word in words if not word.startswith("-")]
    if _SETTINGS & set(plain[:2]):
        return "it would change the agent's own logins and limits"
    if plain[:1] == ["serve"] and _ACCESS & set(plain[1:2]):
        return "it would give out access to the agent"
    for verb, reads in _READS.items():
        if verb in plain[:2] and reads is not None:
            following = plain[plain.index(verb) + 1 :][:1]
            if following and following[0] not in {*reads, "test"}:
                return "it would change the agent's own settings and records"
    return None


def _stem(word: str) -> str:
    return word.rsplit("/", 1)[-1].casefold().partition("@")[0].partition("==")[0].removesuffix(".exe")
