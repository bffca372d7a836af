"""Programs with the same risk for any words."""

from collections.abc import Iterable, Mapping

from claw_acp.security.risk import Level, Risk
from claw_acp.security.shell_command import names


def table(rows: Iterable[tuple[Level, str, str]]) -> Mapping[str, Risk]:
    """Rows of programs that share a risk, by program.

    Raises:
        ValueError: A program is in two rows: the later one would hide the first.
    """
    found: dict[str, Risk] = {}
    for level, reason, programs in rows:
        for program in programs.split():
            if program in found:
                raise ValueError(f"{program} has two risks: {found[program]} and {(level, reason)}")
            found[program] = (level, reason)
    return found


FIXED: Mapping[str, Risk] = table(
    (
        ("high", "runs as another user", "sudo doas su pkexec runuser"),
        ("high", "destroys data on a disk", "mkfs fdisk parted wipefs shred mkswap diskutil sgdisk format"),
        ("high", "stops or restarts the machine", "shutdown reboot halt poweroff init"),
        ("high", "changes accounts", "useradd userdel usermod groupadd passwd chpasswd visudo adduser deluser dscl"),
        (
            "high",
            "changes how the machine works",
            """mount umount iptables nft ufw systemctl service launchctl sysctl modprobe insmod swapoff
            swapon hostnamectl timedatectl localectl loginctl nmcli rfkill update-alternatives chattr setenforce
            chsh""",
        ),
        ("high", "empties or deletes files", "truncate trash trash-put rimraf del-cli srm wipe coreutils"),
        ("high", "shows secrets", "pass gopass op bw lpass secret-tool security keyring chamber doppler"),
        ("high", "types or records for you on this desktop", "xdotool ydotool wtype osascript scrot screencapture"),
        (
            "high",
            "changes a data base or its server",
            """dropdb createdb dropuser createuser pg_restore pg_ctl pg_ctlcluster pg_dropcluster initdb mysqladmin
            mysqlimport mongorestore mongoimport redis-server sqlldr""",
        ),
        (
            "medium",
            "checks, formats or builds files",
            """biome oxlint stylelint rustfmt rustc gcc g++ cc c++ clang clang++ clang-format clang-tidy cppcheck javac
            java kotlinc scalac ghc swiftc swiftformat swiftlint gofmt goimports golangci-lint staticcheck isort flake8
            pylint bandit coverage pre-commit tsup vite vitepress webpack rollup esbuild parcel swc babel next nuxt
            astro remix svelte-check vue-tsc playwright cypress mocha ava karma c8 nyc tap phpunit phpstan pest rspec
            rubocop minitest bats hyperfine mkdocs sphinx-build typedoc jsdoc doxygen protoc buf meson autoconf
            configure nasm ld ar strip unittest build venv virtualenv json.tool timeit cprofile pdb compileall doctest
            ensurepip djlint sqlfluff pyupgrade autopep8 yapf pydocstyle vulture radon actionlint hadolint yamllint
            markdownlint markdownlint-cli2 cspell typos commitlint husky storybook depcheck knip madge concurrently
            cross-env wait-on nodemon tsc-watch gotestsum mockgen sqlc wire air""",
        ),
        ("high", "plans commands for later", "crontab at batch"),
        (
            "high",
            "talks to another machine",
            """ssh scp sftp rsync nc ncat netcat telnet ftp tftp socat rclone mail mailx sendmail msmtp mutt neomutt
            swaks wormhole magic-wormhole croc ffsend pastebinit gist lftp ncftp ncftpput ncftpget smbclient
            websocat wscat ipfs ngrok cloudflared localtunnel lt bore frpc frps chisel tailscale mosh autossh sshfs
            rsh rlogin rexec cadaver grpcurl tmate upterm ttyd gotty telegram-send slackcat ntfy transfer.sh s4cmd
            mc b2 uftp hping3 twilio qrcp piping-server restic borg duplicity""",
        ),
        ("high", "stops programs of this machine", "killall pkill xkill skill"),
        ("high", "writes to other people", "wall write talk"),
        ("high", "sends data to the cloud", "aws gcloud az gsutil s3cmd doctl"),
        ("medium", "stops a program", "kill"),
        ("medium", "sets variables", "declare"),
        ("medium", "moves or overwrites files", "mv cp ln install tee patch unzip tar split"),
        ("medium", "writes to a file or disk", "dd"),
        ("medium", "removes directories", "rmdir"),
        ("medium", "changes permissions", "chmod chown chgrp setfacl"),
        ("low", "creates files", "touch mkdir mktemp"),
        (
            "low",
            "builds or checks the project",
            "pytest ruff mypy pyright tsc eslint prettier black jest vitest shellcheck ctest",
        ),
        (
            "high",
            "runs another program with other settings",
            """chrt taskset prlimit numactl cpulimit unshare nsenter chroot setpriv firejail unbuffer rlwrap ltrace
            strace gdb lldb valgrind perf entr expect start-stop-daemon systemd-run dbus-run-session xvfb-run
            daemonize""",
        ),
    )
)
TASK_RUNNERS = names(
    """make gmake cmake ninja just task gradle gradlew mvn mvnw rake ant sbt lein mix stack cabal zig swift xcodebuild
    flutter dart dotnet nx turbo lerna rush moon bazel bazelisk buck2 pants earthly invoke inv fab poe doit nox tox"""
)
"""Programs that run tasks of the project."""
