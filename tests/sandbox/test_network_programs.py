"""Everyday programs in the sandbox reach permitted hosts through the proxy, and nothing else."""

import hashlib
import io
import json
import sys
import tarfile
import zipfile
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from subprocess import CompletedProcess

import anyio
import pytest

from claw_acp.contracts.launch import Launch
from claw_acp.contracts.sandbox import SandboxProfile
from claw_acp.net.proxy.destination import Destination
from claw_acp.net.proxy.network_proxy import NetworkProxy
from claw_acp.net.proxy.verdict import Verdict
from claw_acp.sandbox.backend import SandboxBackend
from claw_acp.sandbox.machine import sandbox_of_this_machine
from tests.support.servers.behind_proxy import Authority
from tests.support.servers.loopback import Answered, Asked, Loopback, serving
from tests.support.toolchain import ENVIRONMENT, missing

HOST = "files.test"
Files = Mapping[str, bytes]


class Inside:
    """A sandbox with a project, whose commands may reach `HOST`: a server of the test, over TLS and without."""

    def __init__(self, project: Path, backend: SandboxBackend, proxy: NetworkProxy, ca: Path, served: Loopback) -> None:
        self.ca = str(ca)
        self.served = served
        self.told = ""
        self.temporary: Path | None = None
        self._project = project
        self._backend = backend
        self._proxy = proxy

    async def run(self, *argv: str, **variables: str) -> CompletedProcess[bytes]:
        """The end of a program in the sandbox; what was refused is then in `told`."""
        home = ENVIRONMENT.get("HOME", "/")
        env = {"PATH": ENVIRONMENT["PATH"], "HOME": str(self._project), "RUSTUP_HOME": f"{home}/.rustup"}
        async with self._proxy.entrance(decide) as entrance:
            profile = SandboxProfile(
                writable=(self._project,), network="hosts", proxy=entrance.socket, temporary=self.temporary
            )
            confinement = self._backend.confine(profile)
            variables |= {"SSL_CERT_FILE": self.ca}
            try:
                launch = confinement(Launch(argv=argv, env=env | variables, cwd=self._project))
                return await anyio.run_process(launch.argv, env=launch.env, cwd=launch.cwd, check=False)
            finally:
                confinement.release()
                self.told = entrance.refusals_told()


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A directory to work in."""
    directory = tmp_path / "project"
    directory.mkdir()
    return directory


async def decide(destination: Destination) -> Verdict:
    """Allow `HOST` alone."""
    known = destination.host == HOST
    return Verdict(allowed=known, private=known, remedy=destination.rule, reason="No rule.")


@asynccontextmanager
async def inside(project: Path, files: Files, *, backend: SandboxBackend | None = None) -> AsyncGenerator[Inside]:
    """A sandbox whose proxy leads to a server with these files."""
    backend = backend or sandbox_of_this_machine(cache=project.parent / "cache")
    if backend is None or "proxy" not in backend.enforces:
        pytest.skip("no sandbox of this machine has a network of its own")

    def answer(asked: Asked) -> Answered:
        found = files.get(asked.path.partition("?")[0])
        return Answered(status=404) if found is None else Answered([found], kind=kind_of(found))

    authority = Authority(project)
    plain, secure = Loopback(answer), Loopback(answer)
    secure.asked = plain.asked
    secure.socket = authority.server(HOST).wrap_socket(secure.socket, server_side=True)
    ports = {443: secure.server_address[1], 80: plain.server_address[1]}

    async def resolve(_: str, port: int) -> list[tuple[str, int]]:
        return [("127.0.0.1", ports[port])]

    with serving(plain), serving(secure):
        yield Inside(project, backend, NetworkProxy(resolve=resolve), authority.file, plain)


def needs(program: str, version: str = "--version") -> pytest.MarkDecorator:
    """Skip the test where a program does not run."""
    why = missing(program, version)
    return pytest.mark.skipif(bool(why), reason=why)


def kind_of(content: bytes) -> str:
    """The media type of a file."""
    if content.startswith(b"<"):
        return "text/html"
    return "application/json" if content.startswith(b"{") else "application/octet-stream"


def zipped(files: Mapping[str, str]) -> bytes:
    """A zip archive."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    return packed.getvalue()


def tarred(files: Mapping[str, str]) -> bytes:
    """A gzipped tar archive."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as archive:
        for name, text in files.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(text)
            archive.addfile(entry, io.BytesIO(text.encode()))
    return packed.getvalue()


async def test_the_entrance_of_a_command_leaves_no_trace_in_the_directory_that_other_commands_share(
    project: Path,
) -> None:
    shared = project.parent / "temporary"
    shared.mkdir()
    async with inside(project, {}) as sandbox:
        sandbox.temporary = shared
        ended = await sandbox.run("find", "/tmp", "/var/tmp", "-name", "claw-acp-*")
    assert (ended.returncode, ended.stdout, list(shared.glob("claw-acp-*"))) == (0, b"", [])


@needs("curl")
async def test_curl(project: Path) -> None:
    async with inside(project, {"/x": b"here"}) as sandbox:
        for scheme in ("http", "https"):
            done = await sandbox.run("curl", "-sS", f"{scheme}://{HOST}/x")
            assert (done.stdout, done.stderr) == (b"here", b"")
        refused = await sandbox.run("curl", "-sSf", "https://other.test/x")
        assert refused.returncode != 0
        assert b"403" in refused.stderr
        assert "The rule `network(other.test)` would allow it." in sandbox.told


async def test_pip(project: Path) -> None:
    name = "demo-1.0-py3-none-any.whl"
    wheel = zipped({
        "demo.py": "",
        "demo-1.0.dist-info/METADATA": "Metadata-Version: 2.1\nName: demo\nVersion: 1.0\n",
        "demo-1.0.dist-info/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        "demo-1.0.dist-info/RECORD": "",
    })  # fmt: skip
    files = {"/simple/demo/": f'<a href="/{name}">{name}</a>'.encode(), f"/{name}": wheel}
    quiet = ("--disable-pip-version-check", "--no-cache-dir")
    pip = (sys.executable, "-m", "pip", "install", "demo", *quiet, "--target", "lib")
    async with inside(project, files) as sandbox:
        done = await sandbox.run(*pip, "--index-url", f"https://{HOST}/simple/", "--cert", sandbox.ca)
        assert done.returncode == 0, done.stdout + done.stderr
        assert (project / "lib/demo.py").exists()


@needs("npm")
async def test_npm(project: Path) -> None:
    package = tarred({"package/package.json": '{"name": "demo", "version": "1.0.0"}'})
    integrity = hashlib.sha1(package).hexdigest()
    version = {"name": "demo", "version": "1.0.0", "dist": {"tarball": f"https://{HOST}/demo.tgz", "shasum": integrity}}
    listing = json.dumps({"name": "demo", "dist-tags": {"latest": "1.0.0"}, "versions": {"1.0.0": version}})
    (project / "package.json").write_text("{}")
    npm = ("npm", "install", "demo", "--no-audit", "--no-fund", "--no-update-notifier", "--fetch-retries=0", "--cafile")
    async with inside(project, {"/demo": listing.encode(), "/demo.tgz": package}) as sandbox:
        refused = await sandbox.run(*npm, sandbox.ca, "--registry=https://other.test/")
        assert b"Blocked-by-claw-acp network(other.test)" in refused.stderr
        done = await sandbox.run(*npm, sandbox.ca, f"--registry=https://{HOST}/")
        assert done.returncode == 0, done.stderr
        assert (project / "node_modules/demo/package.json").exists()


@needs("git")
async def test_git(project: Path) -> None:
    origin = project.parent / "origin"
    origin.mkdir()
    env = ENVIRONMENT | {f"GIT_{who}_{what}": "a@b" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
    script = "git init -q -b main . && git commit -q --allow-empty -m first && git update-server-info"
    await anyio.run_process(script, cwd=origin, env=env)
    git = origin / ".git"
    files = {f"/r.git/{path.relative_to(git)}": path.read_bytes() for path in git.rglob("*") if path.is_file()}
    async with inside(project, files) as sandbox:
        done = await sandbox.run("git", "clone", "-q", f"https://{HOST}/r.git", "copy", GIT_SSL_CAINFO=sandbox.ca)
        assert done.returncode == 0, done.stderr
        assert (project / "copy/.git/HEAD").exists()
        refused = await sandbox.run("git", "clone", "-q", "https://other.test/r.git", "other")
        assert b"403" in refused.stderr


@needs("go", "version")
async def test_go(project: Path) -> None:
    module = f"{HOST}/m"
    archive = zipped({f"{module}@v1.0.0/go.mod": f"module {module}\n"})
    files = {
        f"/{module}/@v/v1.0.0.info": b'{"Version": "v1.0.0"}',
        f"/{module}/@v/v1.0.0.mod": f"module {module}\n".encode(),
        f"/{module}/@v/v1.0.0.zip": archive,
    }
    env = {"GOFLAGS": "-mod=mod -modcacherw", "GOSUMDB": "off", "GOPATH": f"{project}/go", "GOTOOLCHAIN": "local"}
    async with inside(project, files) as sandbox:
        done = await sandbox.run("go", "mod", "download", f"{module}@v1.0.0", GOPROXY=f"https://{HOST}", **env)
        assert done.returncode == 0, done.stderr
        refused = await sandbox.run("go", "mod", "download", "x.test/m@v1.0.0", GOPROXY="https://other.test", **env)
        assert b"Blocked-by-claw-acp network(other.test)" in refused.stderr


@needs("cargo")
async def test_cargo(project: Path) -> None:
    crate = tarred({"demo-1.0.0/Cargo.toml": '[package]\nname="demo"\nversion="1.0.0"\n', "demo-1.0.0/src/lib.rs": ""})
    entry = f'"name":"demo","vers":"1.0.0","deps":[],"features":{{}},"cksum":"{hashlib.sha256(crate).hexdigest()}"'
    files = {
        "/index/config.json": json.dumps({"dl": f"https://{HOST}/{{crate}}.crate"}).encode(),
        "/index/de/mo/demo": f'{{{entry},"yanked":false}}'.encode(),
        "/demo.crate": crate,
    }
    (project / ".cargo").mkdir()
    source = '[source.crates-io]\nreplace-with = "mine"\n[source.mine]\nregistry = "sparse+https://{}/index/"\n'
    (project / "Cargo.toml").write_text('[package]\nname="x"\nversion="1.0.0"\n[dependencies]\ndemo="1"\n')
    (project / "src").mkdir()
    (project / "src/lib.rs").write_text("")
    async with inside(project, files) as sandbox:
        (project / ".cargo/config.toml").write_text(source.format("other.test"))
        env = {"CARGO_HTTP_CAINFO": sandbox.ca, "CARGO_NET_RETRY": "0"}
        refused = await sandbox.run("cargo", "fetch", **env)
        assert b"403" in refused.stderr
        (project / ".cargo/config.toml").write_text(source.format(HOST))
        done = await sandbox.run("cargo", "fetch", **env)
        assert done.returncode == 0, done.stderr
        assert "/demo.crate" in [asked.path for asked in sandbox.served.asked]


@needs("node")
async def test_node_uses_the_proxy_where_it_can_and_reaches_nothing_without(project: Path) -> None:
    script = f"fetch('https://{HOST}/x').then(r => r.text()).then(console.log, e => console.log(e.cause.code))"
    async with inside(project, {"/x": b"here"}) as sandbox:
        done = await sandbox.run("node", "-e", script, NODE_EXTRA_CA_CERTS=sandbox.ca)
    assert done.stdout in {b"here\n", b"EAI_AGAIN\n", b"ENOTFOUND\n"}


OUT = """
import socket, os
def tried(what, act):
    try:
        act()
        print(what, "REACHED")
    except OSError as error:
        print(what, os.strerror(error.errno) if error.errno else error)
def tcp(host, port): socket.create_connection((host, port), 2).close()
def udp(host): socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b"x", (host, 53))
def unix(path): socket.socket(socket.AF_UNIX).connect(path)
tried("name", lambda: socket.getaddrinfo("files.test", 443))
tried("public", lambda: tcp("93.184.216.34", 443))
tried("metadata", lambda: tcp("169.254.169.254", 80))
tried("host", lambda: tcp("127.0.0.1", int(os.environ["HOST_PORT"])))
tried("dns", lambda: udp("8.8.8.8"))
tried("ping", lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM, 1).sendto(b"\\x08" + bytes(7), ("8.8.8.8", 0)))
tried("raw", lambda: socket.socket(socket.AF_INET, socket.SOCK_RAW, 1))
tried("packet", lambda: socket.socket(socket.AF_PACKET, socket.SOCK_RAW))
tried("vsock", lambda: socket.socket(socket.AF_VSOCK).connect((2, 1)))
tried("sctp", lambda: socket.socket(socket.AF_INET, socket.SOCK_STREAM, 132))
tried("ipv6", lambda: socket.create_connection(("2606:4700::1111", 443), 2))
tried("the proxy's own socket", lambda: unix("/run/claw-acp/proxy"))
"""


async def test_nothing_leaves_by_any_other_way(project: Path) -> None:
    async with inside(project, {"/x": b"here"}) as sandbox:
        done = await sandbox.run(sys.executable, "-c", OUT, HOST_PORT=str(sandbox.served.server_address[1]))
    lines = done.stdout.decode().splitlines()
    assert len(lines) == 12, done
    assert [line for line in lines if line.endswith("REACHED")] == []
