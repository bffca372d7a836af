"""Programs that only read, with the options for which that holds. See `options` for the notation."""

from collections.abc import Mapping

from claw_acp.security.shell_command import names

_CHECKSUM = "-btz --binary --text --zero --tag"
_GREP = (
    "-EFGPivwxcnHhloqsbzZUa -r! -A: -B: -C: -m: -e:! -f@! digits --recursive! --extended-regexp --fixed-strings "
    "--basic-regexp --perl-regexp --ignore-case --no-ignore-case --invert-match --word-regexp --line-regexp --count "
    "--color? --colour? --files-with-matches --files-without-match --max-count= --only-matching --quiet --silent "
    "--no-messages --byte-offset --with-filename --no-filename --line-number --null --null-data --include= --exclude= "
    "--exclude-dir= --binary-files= --after-context= --before-context= --context= --regexp=! --file@! --text "
    "--line-buffered --initial-tab : text,path"
)
_RG = (
    "-iSsnNHIlcovwxFUPu.a0pq -A: -B: -C: -m: -g: -t: -T: -e:! -f@! -r: -M: -j: -d: -E: digits --files! --type-list! "
    "--files-with-matches --files-without-match --count --count-matches --glob= --iglob= --hidden --no-hidden "
    "--no-ignore --no-ignore-vcs --no-heading --heading --json --vimgrep --stats --sort= --sortr= --max-count= "
    "--max-depth= --max-filesize= --max-columns= --multiline --multiline-dotall --pcre2 --replace= --smart-case "
    "--ignore-case --case-sensitive --fixed-strings --word-regexp --line-regexp --invert-match --line-number "
    "--no-line-number --column --only-matching --passthru --after-context= --before-context= --context= --color= "
    "--colors= --trim --type= --type-not= --encoding= --text --null --quiet --no-messages --no-filename "
    "--with-filename --regexp=! --file@! --threads= --no-config --unrestricted --pretty --crlf --binary "
    "--byte-offset --one-file-system --context-separator= --field-match-separator= : text,path whole"
)
_FD = (
    "-HIgisap01 -e: -t: -E: -d: -j: -S: --hidden --no-ignore --no-ignore-vcs --unrestricted --glob --regex "
    "--fixed-strings --ignore-case --case-sensitive --absolute-path --full-path --print0 --extension= --type= "
    "--exclude= --max-depth= --min-depth= --exact-depth= --max-results= --color= --changed-within= --changed-before= "
    "--size= --threads= --quiet --one-file-system : text,path"
)

PROGRAMS: Mapping[str, str] = {
    "ls": (
        "-1aABcCdfFgGhHiklmnNopqQrRsStuUvxXZ --all --almost-all --author --block-size= --classify --color? "
        "--directory --format= --full-time --group-directories-first --hide= --human-readable --hyperlink? --ignore= "
        "--indicator-style= --inode --kibibytes --literal --no-group --numeric-uid-gid --quote-name --quoting-style= "
        "--recursive --reverse --si --size --sort= --time= --time-style= --width= --zero"
    ),
    "cat": (
        "-AbeEnstTuv --number --number-nonblank --show-all --show-ends --show-tabs --show-nonprinting --squeeze-blank"
    ),
    "head": "-qvz -n: -c: digits --lines= --bytes= --quiet --silent --verbose --zero-terminated",
    "tail": "-fFqrvz -n: -c: -s: digits --lines= --bytes= --follow? --quiet --silent --verbose --zero-terminated",
    "wc": "-cmlLw --bytes --chars --lines --words --max-line-length --total=",
    "stat": "-Lftx -c: --format= --printf= --file-system --terse --dereference",
    "du": (
        "-achkmsxbS0l -d: -t: --all --apparent-size --bytes --human-readable --max-depth= --summarize --total "
        "--exclude= "
        "--one-file-system --si --null --separate-dirs --time? --block-size="
    ),
    "df": (
        "-ahHikmlPT -t: -x: --all --human-readable --si --inodes --local --portability --print-type --type= "
        "--exclude-type="
    ),
    "cut": (
        "-nsz -d: -f: -c: -b: --delimiter= --fields= --characters= --bytes= --complement --output-delimiter= "
        "--only-delimited"
    ),
    "nl": "-p -b: -d: -f: -h: -i: -l: -n: -s: -v: -w:",
    "od": "-abcdfilosxv -A: -t: -N: -j: -w? --address-radix= --format= --read-bytes= --skip-bytes= --width?",
    "hexdump": "-bcCdovx -n: -s: -e:",
    "strings": "-a -n: -t: -e: --all --bytes= --radix= --encoding= : path files",
    "realpath": (
        "-emsqzLP --canonicalize-existing --canonicalize-missing --no-symlinks --strip --relative-to@ "
        "--relative-base@ --quiet --zero"
    ),
    "readlink": "-femnqsvz --canonicalize --canonicalize-existing --canonicalize-missing --no-newline --zero",
    **dict.fromkeys(names("md5sum sha1sum sha224sum sha256sum sha384sum sha512sum"), _CHECKSUM),
    "b2sum": f"{_CHECKSUM} -l: --length=",
    "shasum": "-btU01 -a: --algorithm= --binary --text",
    "cksum": "-a: --algorithm=",
    "fold": "-bs -w: --bytes --spaces --width=",
    "expand": "-i -t: --initial --tabs=",
    "unexpand": "-a -t: --all --tabs=",
    "rev": "",
    "tac": "-br -s: --before --regex --separator=",
    "paste": "-sz -d: --serial --delimiters= --zero-terminated",
    "join": "-iz -a: -e: -j: -o: -t: -v: -1: -2: --header --nocheck-order --check-order --ignore-case : path files",
    "comm": "-123z --total --output-delimiter= --nocheck-order --check-order : path files",
    "cmp": "-bls -i: -n: --print-bytes --verbose --silent --quiet --bytes= --ignore-initial= : path files",
    "fmt": "-cstu -w: -g: --width= --split-only --uniform-spacing",
    "zcat": "",
    "grep": _GREP,
    "egrep": _GREP,
    "fgrep": _GREP,
    "rg": _RG,
    "fd": _FD,
    "fdfind": _FD,
    "tr": "-cCdst --complement --delete --squeeze-repeats --truncate-set1 : text",
    "basename": "-az -s: --multiple --suffix= --zero : text",
    "dirname": "-z --zero : text",
    "whoami": " : none",
    "id": "-unGgrz --user --group --groups --name --real --zero : text",
    "uname": "-asnrvmpio --all --kernel-name --nodename --kernel-release --machine --operating-system : none",
    "uptime": "-ps --pretty --since : none",
    "nproc": "--all --ignore= : none",
    "arch": " : none",
    "tty": "-s --silent --quiet : none",
    "groups": " : text",
    "logname": " : none",
    "cal": "-my13 : text",
    "seq": "-w -s: -f: --separator= --format= --equal-width : text",
    "sleep": " : text",
    "pwd": "-LP --logical --physical : none",
    "which": "-a --all : text",
    "type": "-aptPf : text",
    "hostname": "-s --short : none",
    "file": (
        "-bihkLNnr0 -F: --brief --mime --mime-type --mime-encoding --dereference --keep-going --no-pad --separator="
    ),
    "sort": (
        "-bdfghiMnRrVcCmsuz -k: -t: -S: --ignore-leading-blanks --dictionary-order --ignore-case "
        "--general-numeric-sort "
        "--human-numeric-sort --ignore-nonprinting --month-sort --numeric-sort --random-sort --reverse --sort= "
        "--version-sort --check? --merge --stable --unique --zero-terminated --key= --field-separator= --buffer-size= "
        "--parallel="
    ),
    "uniq": (
        "-cdDuiz -f: -s: -w: --count --repeated --all-repeated? --unique --ignore-case --zero-terminated "
        "--skip-fields= "
        "--skip-chars= --check-chars= --group? : path most=1"
    ),
    "xxd": "-pubei -c: -l: -s: -o: -g: : path most=1 apart",
    "tree": (
        "-adfipsughDFCNQqrtUvJXACS -L: -P: -I: --dirsfirst --noreport --gitignore --prune --du --si "
        "--filelimit= --charset= "
        "--matchdirs --ignore-case --sort= : path apart"
    ),
    "diff": (
        "-uqwbBiyctadEZps -U: -C: -W: --unified? --context? --brief --color? --side-by-side --ignore-all-space "
        "--ignore-space-change --ignore-blank-lines --ignore-case --ignore-trailing-space --report-identical-files "
        "--suppress-common-lines --text --width= --label= --minimal --strip-trailing-cr --show-c-function --normal "
        "-L: -r! -N --recursive! --new-file : path files"
    ),
    "column": "-tnxJe -s: -o: -c: -N: --table --separator= --output-separator= --json --table-columns=",
    "free": "-bkmghtwl --human --mega --giga --total --wide --bytes --kibi --mebi --gibi : none",
    "cd": "-LP : path most=1",
    "numfmt": "-d: --to= --from= --field= --header? --suffix= --padding= --format= --delimiter= : text",
}

ANY_WORDS = names("echo true false :")
"""Programs that only print their words or ignore them."""

VERSIONS: Mapping[str, frozenset[str]] = {
    **dict.fromkeys(names("python python3 pip pip3 git uv deno bun jq fd fdfind rg"), names("--version -V")),
    **dict.fromkeys(
        names(
            """gcc g++ cc c++ clang clang++ make cmake ninja curl wget bash zsh fish sed grep awk tar gh docker kubectl
            psql sqlite3 mysql redis-server redis-cli nginx vim nvim emacs perl ruby php java javac ruff uvx helm
            rsync openssl ffmpeg pkg-config clang-format shellcheck"""
        ),
        names("--version"),
    ),
    **dict.fromkeys(names("node npm"), names("--version -v")),
    "git": names("--version version"),
    "go": names("version"),
    "java": names("--version -version"),
    "javac": names("--version -version"),
    "ruby": names("--version -v"),
    "php": names("--version -v"),
    "perl": names("--version -v"),
    "openssl": names("version"),
    "ssh": names("-V"),
    "tmux": names("-V"),
    "cargo": names("--version -V"),
    "rustc": names("--version -V"),
    "rustup": names("--version -V"),
}
"""The words with which a program prints its version and runs nothing of the project's. Left out are those that read a
configuration which can name code first (pytest, yarn, pnpm, eslint, terraform, ...); never the bare word `version`
where the program would take it for a script or a target."""

CHOSEN_BY_A_FILE: Mapping[str, tuple[str, ...]] = dict.fromkeys(
    names("cargo rustc rustup"), ("rust-toolchain", "rust-toolchain.toml")
)
"""Files, here or in a directory above, that choose the program that really runs."""
