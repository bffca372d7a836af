"""Where a path text leads, and whether that is inside a root."""

import os
from pathlib import Path

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from claw_acp.core.errors import InvalidRequest, ToolError
from claw_acp.workspace import paths
from tests.support.ordinary_user import ordinary_user


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """root/ with files and links, beside outside/; `tmp_path` itself may lie behind a link, so it is resolved."""
    return _tree(Path(os.path.realpath(tmp_path)))


def _tree(base: Path) -> Path:
    (base / "root" / "sub" / "deep").mkdir(parents=True)
    (base / "outside").mkdir()
    (base / "root" / "file").write_text("inside")
    (base / "outside" / "secret").write_text("outside")
    links = {
        "up": "..",
        "out": "../outside",
        "chain": "sub/hop",
        "sub/hop": "../out",
        "absolute": str(base / "outside"),
        "dangling": "../outside/new",
        "dangling_inside": "sub/new",
        "loop": "loop",
        "ping": "pong",
        "pong": "ping",
        "self": ".",
        "sub/deep/home": "../..",
    }
    for name, target in links.items():
        (base / "root" / name).symlink_to(target)
    return base


@pytest.mark.parametrize(
    ("text", "leads_to"),
    [
        ("file", "root/file"),
        ("./sub//deep/", "root/sub/deep"),
        ("sub/../file", "root/file"),
        ("..", "."),
        ("../outside/secret", "outside/secret"),
        ("up/outside/secret", "outside/secret"),
        ("out/secret", "outside/secret"),
        ("chain/secret", "outside/secret"),
        ("absolute/secret", "outside/secret"),
        ("dangling", "outside/new"),
        ("dangling/below", "outside/new/below"),
        ("dangling_inside", "root/sub/new"),
        ("out/../root/file", "root/file"),
        ("self/self/file", "root/file"),
        ("sub/deep/home/file", "root/file"),
        ("new/name.txt", "root/new/name.txt"),
        ("file/below", "root/file/below"),
        ("~backup", "root/~backup"),
        ("./~/file", "root/~/file"),
    ],
)
def test_a_path_leads_where_the_kernel_would_go(tree: Path, text: str, leads_to: str) -> None:
    expected = tree / leads_to
    assert paths.locate(text, cwd=tree / "root") == expected
    assert paths.locate(str(tree / "root" / text), cwd=tree / "outside") == expected
    assert paths.contains(tree / "root" / text, roots=[tree / "root"]) == leads_to.startswith("root")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "empty"),
        ("a\0b", "NUL"),
        ("\ud800", "no file name can have"),
        ("~", r"not expanded.*write /.*or \./~"),
        ("~/x", "not expanded"),
        ("~nobody-of-this-name/x", "write the absolute path instead"),
        ("loop", "loop"),
        ("loop/x", "loop"),
        ("ping", "loop"),
        ("x" * 5000, "cannot be resolved"),
    ],
)
def test_a_text_that_cannot_be_a_path_is_refused_with_the_reason(tree: Path, text: str, message: str) -> None:
    with pytest.raises(ToolError, match=message):
        paths.locate(text, cwd=tree / "root")


def test_a_directory_that_may_not_be_looked_into_is_not_guessed_about(tree: Path) -> None:
    locked = tree / "root" / "sub"
    locked.chmod(0)
    try:
        with ordinary_user(tree), pytest.raises(ToolError, match="cannot be resolved at"):
            paths.locate("sub/hop", cwd=tree / "root")
    finally:
        locked.chmod(0o700)


def test_a_root_contains_itself_but_not_a_neighbour_with_a_longer_name(tree: Path) -> None:
    root = tree / "root"
    assert paths.contains(root, roots=[root])
    assert not paths.contains(tree / "root2", roots=[root])
    assert not paths.contains(tree / "ROOT" / "file", roots=[root])


def test_a_relative_or_looping_path_is_in_no_root(tree: Path) -> None:
    assert not paths.contains(Path("root/file"), roots=[tree / "root"])
    assert not paths.contains(tree / "root" / "loop", roots=[tree / "root"])


def test_one_of_several_roots_is_enough(tree: Path) -> None:
    assert paths.contains(tree / "outside" / "secret", roots=[tree / "root", tree / "outside"])


@pytest.fixture(scope="module")
def shared_tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return _tree(Path(os.path.realpath(tmp_path_factory.mktemp("paths"))))


_PLAIN_STEPS = ["..", ".", "", "root", "outside", "sub", "deep", "file", "secret", "new", "ROOT", "Sub", "é", " "]
_LINK_STEPS = ["hop", "up", "out", "chain", "absolute", "dangling", "dangling_inside", "self", "home", "loop", "ping"]
_STEPS = st.sampled_from([*_PLAIN_STEPS, *_LINK_STEPS])


@given(steps=st.lists(_STEPS, max_size=12), end=st.sampled_from(["", "/", "/."]))
def test_no_accepted_path_lies_outside_the_roots(shared_tree: Path, steps: list[str], end: str) -> None:
    root = shared_tree / "root"
    text = "/".join([str(root), *steps]) + end
    if paths.contains(Path(text), roots=[root]):
        assert Path(os.path.realpath(text)).is_relative_to(root)
        assert paths.locate(text, cwd=root) == Path(os.path.realpath(text))


@given(steps=st.lists(_STEPS, max_size=12))
def test_resolving_agrees_with_the_system_and_changes_nothing_the_second_time(
    shared_tree: Path, steps: list[str]
) -> None:
    try:
        found = paths.locate("/".join(["root", *steps]), cwd=shared_tree)
    except ToolError:
        assume(not {"loop", "ping"} & set(steps))
        raise
    assert str(found) == os.path.realpath("/".join([str(shared_tree), "root", *steps]))
    assert paths.resolve(found) == found


def test_a_session_root_is_resolved(tree: Path) -> None:
    assert paths.session_root(str(tree / "root" / "out")) == tree / "outside"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "must be an absolute path"),
        ("root", "must be an absolute path"),
        ("~", "must be an absolute path"),
        ("/a\0b", "must be an absolute path"),
        ("{tree}/root/file", "is not a directory"),
        ("{tree}/nowhere", "does not exist"),
        ("{tree}/root/loop", "loop"),
    ],
)
def test_a_session_root_that_is_no_directory_is_an_invalid_parameter(tree: Path, text: str, message: str) -> None:
    with pytest.raises(InvalidRequest, match=message):
        paths.session_root(text.format(tree=tree))
