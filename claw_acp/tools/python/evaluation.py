"""The program that runs a model's Python, from its standard input; its arguments are its limits.

It imports nothing of ours, and runs in the read-only sandbox without network where there is one.
"""

import ast
import sys
import traceback
from collections.abc import Sequence

try:
    import resource
except ImportError:  # Windows has none
    resource = None

NAME = "<code>"


def main(arguments: Sequence[str]) -> int:
    """Run the code and print the value of its last line, as an interactive Python does."""
    seconds, memory, file_size = map(int, arguments)
    code = sys.stdin.buffer.read().decode("utf-8")
    set_limits(seconds=seconds, memory=memory, file_size=file_size)
    scope: dict[str, object] = {"__name__": "__main__"}
    try:
        tree = ast.parse(code, NAME)
        last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
        exec(compile(tree, NAME, "exec"), scope)  # noqa: S102 - its purpose
        if isinstance(last, ast.Expr):
            value = eval(compile(ast.Expression(last.value), NAME, "eval"), scope)  # noqa: S307 - its purpose
            if value is not None:
                sys.stdout.write(f"{value!r}\n")
        sys.stdout.flush()
    except SystemExit:
        raise
    except BaseException as error:  # noqa: BLE001 - told, and it ends
        sys.stdout.flush()
        frames = error.__traceback__
        while frames is not None and frames.tb_frame.f_code.co_filename != NAME:
            frames = frames.tb_next
        traceback.print_exception(error.with_traceback(frames), file=sys.stdout)
        return 1
    return 0


def set_limits(*, seconds: int, memory: int, file_size: int) -> None:
    """Limit processor time, memory and files, where the system can."""
    if resource is None:
        return
    limits = {
        resource.RLIMIT_CPU: seconds, resource.RLIMIT_AS: memory, resource.RLIMIT_FSIZE: file_size,
        resource.RLIMIT_CORE: 0,
    }  # fmt: skip
    for kind, wanted in limits.items():
        _, hard = resource.getrlimit(kind)
        most = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
        resource.setrlimit(kind, (most, most))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
