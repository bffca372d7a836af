"""The risk of programs that fetch, and the arguments with which they send something or run other programs."""

import re

from claw_acp.security.risk import Risk, Words, has_long, has_short, unknown

_FETCHES: Risk = ("medium", "downloads from the network")
_SENDS: Risk = ("high", "sends data over the network")
_UNKNOWN: Risk = ("high", "sends something over the network that is known only when it runs")
_SETTINGS: Risk = ("high", "reads settings by which it may send files or run programs")

_CURL_SENDS = """--data --data-ascii --data-binary --data-raw --data-urlencode --form --form-string --upload-file
    --request --json --url-query --mail-from --quote --netrc --netrc-file --netrc-optional --cert --key --telnet-option
    --variable --expand-data --expand-url --expand-header --trace --libcurl --proxy --preproxy --unix-socket"""
_CURL_OTHERS = "--url --fail --fail-with-body --fail-early --user --user-agent"
_OTHER_SCHEME = re.compile(r"(?!https?://)[A-Za-z][\w+.-]*://.*", re.DOTALL)
_SENDS_FILE = re.compile(r"@|-[A-Za-z]*[bdFHT]@|--[\w-]+=.*@|<", re.DOTALL)
_HTTPIE_SENDS = re.compile(r"(?!https?://)[^=\s]+?(?::?=(?!=)@?|@).*|POST|PUT|PATCH|DELETE", re.DOTALL)


def curl_risk(words: Words) -> Risk:
    """The risk of `curl`."""
    if unknown(words):
        return _UNKNOWN
    if has_long(words, "--config") or has_short(words, "K"):
        return _SETTINGS
    sends = has_long(words, _CURL_SENDS, but=_CURL_OTHERS) or has_short(words, "dFTXnEQx")
    if sends or any(_SENDS_FILE.match(word) or _OTHER_SCHEME.fullmatch(word) for word in words):
        return _SENDS
    return _FETCHES


def wget_risk(words: Words) -> Risk:
    """The risk of `wget`."""
    if unknown(words):
        return _UNKNOWN
    if has_long(words, "--use-askpass --execute --config --input-file") or has_short(words, "ei"):
        return _SETTINGS
    if has_long(words, "--post-data --post-file --body-data --body-file --method --ftp-user", but="--page-requisites"):
        return _SENDS
    return _FETCHES


def httpie_risk(words: Words) -> Risk:
    """The risk of `http` and similar programs, which send every `name=value` among their words."""
    if unknown(words):
        return _UNKNOWN
    return _SENDS if any(_HTTPIE_SENDS.fullmatch(word) for word in words) else _FETCHES


def aria2c_risk(words: Words) -> Risk:
    """The risk of `aria2c`, which can run a program at every event."""
    if unknown(words):
        return _UNKNOWN
    events = "start pause stop complete error bt-download-complete"
    hooks = " ".join(f"--on-download-{event}" for event in events.split())
    if has_long(words, f"{hooks} --on-bt-download-complete --conf-path --input-file --enable-rpc") or has_short(
        words, "i"
    ):
        return _SETTINGS
    return _FETCHES


def yt_dlp_risk(words: Words) -> Risk:
    """The risk of `yt-dlp`, which can run programs before and after a download."""
    if unknown(words):
        return _UNKNOWN
    runs = """--exec --exec-before-download --netrc-cmd --downloader --external-downloader --config-locations
        --batch-file --plugin-dirs --postprocessor-args --use-postprocessor --ffmpeg-location --cookies-from-browser"""
    return _SETTINGS if has_long(words, runs) or has_short(words, "a") else _FETCHES
