"""The list of attacks."""

from typing import Final, Literal

from claw_acp.core.value import Value
from claw_acp.sandbox.backend import Guarantee


class Attack(Value):
    """An attempt to get out of a sandbox.

    Attributes:
        name: What it tries.
        against: The part of a profile that must stop it. nothing: no sandbox does; it has to be noticed afterwards.
        script: It, as a script for a shell; empty: `function` is it.
        function: The name of a function of `program`.
        argument: The argument of the function. Names in braces are those of `arena.Arena.places`.
        git: Whether it succeeds with the next `git status` of the person.
        kill: Whether the program that started it is killed meanwhile.
        hangs: Whether no answer is how it may be stopped, as by a network that loses all that is sent.
    """

    name: str
    against: Guarantee | Literal["nothing"]
    script: str = ""
    function: str = ""
    argument: str = ""
    git: bool = False
    kill: bool = False
    hangs: bool = False


_OTHER_DIRECTORY: Final = """
mkdir evil && cp -r .git/objects .git/refs evil && echo ../evil > .git/commondir
printf "[core]\\nfsmonitor = %s\\n" "$EVIL" > evil/config
"""
_BARE: Final = """
rm .git/HEAD && mkdir objects refs && echo ref: refs/heads/main > HEAD
printf "[core]\\nrepositoryformatversion = 0\\nworktree = .\\nfsmonitor = %s\\n" "$EVIL" > config
"""
_INNER: Final = """
git init -q inner && cd inner && echo x > x && git add x && git commit -qm x && cd .. && git add inner
git -C inner config core.fsmonitor "$EVIL"
"""
_FAR_INSIDE: Final = _INNER.replace("cd ..", 'cd "$OLDPWD"').replace("inner", "1/2/3/4/5/inner")

ATTACKS: Final = (
    Attack(name="read a key", against="unreadable", script='cat "$KEY"'),
    Attack(name="read a key through a link", against="unreadable", script='ln -s "$KEY" link; cat link'),
    Attack(name="read a key through a hard link", against="unreadable", script='ln "$KEY" hard && cat hard'),
    Attack(name="read a key from the root of process 1", against="unreadable", script='cat "/proc/1/root$KEY"'),
    Attack(
        name="read a key from a working directory", against="unreadable", script="cat /proc/self/cwd/../outside/key"
    ),
    Attack(name="read a folder of keys", against="unreadable", script='cat "$KEYS"/*'),
    Attack(name="lift what hides a key", against="unreadable", function="unmount", argument="{key}"),
    Attack(name="write outside", against="writable", script='echo changed > "$FILE"'),
    Attack(name="create a file outside", against="writable", script='echo new > "$OUTSIDE/new"'),
    Attack(name="delete outside", against="writable", script='rm -f "$FILE"'),
    Attack(name="rename outside", against="writable", script='mv "$FILE" "$OUTSIDE/renamed"'),
    Attack(name="move a file out", against="writable", script='echo x > f; mv f "$OUTSIDE/moved"'),
    Attack(name="write through a link", against="writable", script='ln -s "$FILE" link; echo changed > link'),
    Attack(name="write through a hard link", against="writable", script='ln "$FILE" hard && echo changed > hard'),
    Attack(
        name="write through a hard link that was there",
        against="nothing",
        script="echo changed > node_modules/index.js; touch -d 2001-01-01 node_modules/index.js",
    ),
    Attack(
        name="write through the root of a process", against="writable", script='echo changed > "/proc/self/root$FILE"'
    ),
    Attack(name="change rights outside", against="metadata", script='chmod 777 "$FILE"'),
    Attack(name="change the owner outside", against="metadata", script='chown 12345 "$FILE"'),
    Attack(name="change the time of a file outside", against="metadata", script='touch -d 2001-01-01 "$FILE"'),
    Attack(name="mount the disk anew", against="writable", function="mount", argument="{project}"),
    Attack(name="make a device", against="writable", function="device"),
    Attack(
        name="open a setting of the kernel",
        against="writable",
        function="opened",
        argument="/proc/sys/kernel/core_pattern",
    ),
    Attack(
        name="open a setting of the kernel in /sys",
        against="writable",
        function="opened",
        argument="/sys/kernel/mm/transparent_hugepage/enabled",
    ),
    Attack(name="open a disk", against="writable", function="disk"),
    Attack(name="read files that were left open", against="unreadable", function="descriptors", argument="{left_open}"),
    Attack(name="put a hook into git", against="read_only", script='echo "$EVIL" > .git/hooks/post-checkout'),
    Attack(
        name="replace .git",
        against="read_only",
        script='mv .git old && cp -r old .git && echo "$EVIL" > .git/hooks/post-checkout',
    ),
    Attack(
        name="change the configuration of git",
        against="read_only",
        script='git config core.fsmonitor "$EVIL"',
        git=True,
    ),
    Attack(name="give git another directory", against="read_only", script=_OTHER_DIRECTORY, git=True),
    Attack(name="make the project a bare repository", against="read_only", script=_BARE, git=True),
    Attack(name="add a repository with its own configuration", against="nothing", script=_INNER, git=True),
    Attack(name="add one far down in the project", against="nothing", script=_FAR_INSIDE, git=True),
    Attack(
        name="replace a guarded link",
        against="nothing",
        script='rm .idea && mkdir .idea && echo "$EVIL" > .idea/workspace.xml',
    ),
    Attack(
        name="create the tasks of an editor",
        against="read_only",
        script='mkdir -p .vscode; echo "$EVIL" > .vscode/tasks.json',
    ),
    Attack(name="create a file of agents", against="read_only", script='rm -rf .mcp.json; echo "$EVIL" > .mcp.json'),
    Attack(
        name="rename the folder of a guarded file",
        against="read_only",
        script='mv .claude old; mkdir -p .claude; echo "$EVIL" > .claude/settings.json',
    ),
    Attack(
        name="replace the Python of the project",
        against="read_only",
        script='rm -f .venv/bin/python; echo "$EVIL" > .venv/bin/python',
    ),
    Attack(
        name="exchange the folder of the project's Python",
        against="read_only",
        script='mv .venv other && cp -r other .venv && echo "$EVIL" > .venv/bin/python',
    ),
    Attack(name="connect to this machine", against="network", function="tcp", argument="{tcp}", hangs=True),
    Attack(name="send a datagram to this machine", against="network", function="udp", argument="{udp}", hangs=True),
    Attack(name="send a question for a name", against="network", function="datagram", argument="192.0.2.1"),
    Attack(name="ask the cloud for credentials", against="network", function="datagram", argument="169.254.169.254"),
    Attack(name="use the socket of a container daemon", against="sockets", function="unix", argument="{docker}"),
    Attack(name="use the agent of ssh", against="sockets", function="unix", argument="{ssh_agent}"),
    Attack(name="use D-Bus", against="sockets", function="unix", argument="{dbus}"),
    Attack(name="use an abstract socket", against="sockets", function="unix", argument="@{abstract}"),
    Attack(name="make a socket to the machine below", against="system_calls", function="vsock"),
    Attack(name="read the environment of others", against="processes", script='cat "/proc/$VICTIM/environ"'),
    Attack(
        name="read the memory of others",
        against="processes",
        script='head -c 1 "/proc/$VICTIM/maps" > /dev/null && echo "$TOKEN"',
    ),
    Attack(name="kill others", against="processes", script='kill -KILL "$VICTIM" && sleep 0.1'),
    Attack(name="survive in a session of its own", against="processes", script='setsid sh -c "$SURVIVE" & sleep 0.2'),
    Attack(
        name="survive without a terminal",
        against="processes",
        script='nohup sh -c "$SURVIVE" > /dev/null 2>&1 & sleep 0.2',
    ),
    Attack(name="survive with a lost parent", against="processes", script='(setsid sh -c "$SURVIVE" &) & sleep 0.2'),
    Attack(
        name="outlive what started it",
        against="processes",
        script='setsid sh -c "$SURVIVE" & sh -c "$SURVIVE"',
        kill=True,
    ),
    Attack(name="become the superuser of a namespace", against="system_calls", function="user_namespace"),
    Attack(name="become the superuser by clone3", against="system_calls", function="user_namespace_by_clone3"),
    Attack(name="use programs with the rights of others", against="system_calls", function="new_privileges"),
    Attack(name="leave a program with the rights of its owner", against="system_calls", function="set_user"),
    Attack(name="be traced", against="system_calls", function="trace"),
    Attack(name="make a key ring", against="system_calls", function="keys"),
    Attack(name="make a ring of system calls", against="system_calls", function="io_uring"),
    Attack(name="handle page faults", against="system_calls", function="page_faults"),
    Attack(name="load a map into the kernel", against="system_calls", function="bpf"),
    Attack(name="type into the terminal", against="system_calls", function="typed_ahead"),
    Attack(name="start many processes", against="process_limit", function="processes"),
    Attack(name="write a large file", against="file_size_limit", function="large_file", argument="{file_size}"),
    Attack(name="use much memory", against="memory_limit", function="memory", argument="{memory}"),
)
