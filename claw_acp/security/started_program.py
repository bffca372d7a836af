"""Programs that package managers and interpreters start by name."""

import re
from collections.abc import Mapping

from claw_acp.security.risk import Words
from claw_acp.security.shell_command import names

_VERBS: Mapping[str, frozenset[str] | None] = {
    **dict.fromkeys(names("npx bunx uvx pnpx"), None),
    "npm": names("exec x"),
    "pnpm": names("exec x dlx"),
    "yarn": names("exec dlx"),
    "bun": names("x"),
    "pipx": names("run"),
    "uv": names("run"),
    "bundle": names("exec"),
    **dict.fromkeys(names("poetry pdm hatch rye pipenv pixi conda mamba micromamba"), names("run")),
    **dict.fromkeys(names("mise asdf direnv rbenv pyenv nodenv dotenv"), names("exec")),
}
_INTERPRETERS = names("python python2 python3 pypy pypy3 py")
_VALUED = names(
    """-p --package --with --from --python --extra --group --env-file -w --workspace --directory -C --project --prefix
    --filter -n --name --index-url --registry"""
)


def started_by(program: str, words: Words) -> Words:
    """The words of the program that this one starts, its name first; empty if it starts none by name."""
    if program in _INTERPRETERS:
        module = next((index for index, word in enumerate(words) if word.startswith("-m")), None)
        if module is None or any(not word.startswith("-") for word in words[:module]):
            return ()
        glued = words[module][2:]
        return ((glued,) if glued else ()) + words[module + 1 :]
    if program not in _VERBS:
        return ()
    verbs, waiting = _VERBS[program], _VERBS[program] is not None
    for index, word in enumerate(words):
        if word.startswith("-") or (index and words[index - 1] in _VALUED):
            continue
        if waiting and verbs and word in verbs:
            waiting = False
        elif not waiting:
            name = re.sub(r"(?<=.)@[^/]*$", "", word.rsplit("/", 1)[-1]) if not word.startswith("@") else word
            return (name, *words[index + 1 :])
        elif program != "uv":  # `uv tool run x`
            return ()
    return ()
