"""Clients of databases and remote services: anything but a known read is asked about."""

import re
from collections.abc import Mapping

from claw_acp.security.risk import Risk, Words, unknown
from claw_acp.security.risky_words import risky_word
from claw_acp.security.shell_command import names

DATABASES = names(
    """psql mysql mariadb mycli pgcli litecli usql mongosh mongo redis-cli valkey-cli sqlite3 sqlite duckdb cqlsh sqlcmd
    sqlplus clickhouse clickhouse-client influx cypher-shell bq snowsql surreal turso"""
)
SERVICES = names(
    """kubectl oc helm helmfile kustomize argocd flux skaffold kops eksctl terraform tofu terragrunt pulumi cdk sam sls
    serverless vercel netlify firebase wrangler fly flyctl heroku railway render supabase amplify ansible
    ansible-playbook vault consul etcdctl nomad packer vagrant linode-cli hcloud ibmcloud oci aliyun scw surge eas"""
)
_CHANGES_DATA: Risk = ("high", "may change a data base")
_LOOKS_AT_DATA: Risk = ("medium", "looks at a data base")
_STATEMENT_OPTIONS = names("-c --command -e --execute -Q -q --query")
_STATEMENT = re.compile(r"\s|^\\|^\.[a-z]|;")
_READS_DATA = re.compile(
    r"\s*(select\b|show\b|describe\b|desc\b|explain\b|pragma\s+\w+(\(\w+\))?;?$|\\[dl][\w+]*(\s+[\w.*]+)?$"
    r"|\.(tables|schema|databases|indexes)\b)",
    re.IGNORECASE,
)
_WRITES_DATA = re.compile(
    r"\b(into|delete|update|insert|replace|drop|alter|create|truncate|copy|grant|revoke|call|do|set|lock|vacuum|attach"
    r"|analyze|pg_\w*(terminate|cancel|reload|read|ls|switch|rotate)\w*|lo_\w+|dblink\w*|load_\w+|writefile|readfile"
    r"|edit|nextval|setval|exec\w*|system|sleep|pg_sleep|outfile|dumpfile)\b|\\[!ogi]|;\s*\S|\|",
    re.IGNORECASE,
)
_REDIS_VALUED = names("-h -p -n -a -u --user --pass -s")
_REDIS_LOOKS = names(
    """get mget keys ttl pttl type exists info ping scan dbsize hget hgetall hkeys hlen lrange llen smembers scard
    zrange zcard strlen"""
)
_ABOUT_ITSELF = names("--version -V --help -? -l --list version help")

_LOOKS = names(
    """version list ls ps status get describe logs log show whoami help dev serve build preview diff synth lint template
    inspect top explain api-resources api-versions cluster-info search history validate fmt plan init output graph
    completion info doctor test start emulators:start docs"""
)
_GROUPS = names("apps services projects state workspace releases machines machine volumes functions stack deployments")
_VALUED = names(
    """-n --namespace --context --kubeconfig --cluster -a --app --profile --region --project -C --cwd --team --scope
    --org --config -c --cloud -p"""
)
_ALONE: Mapping[str, frozenset[str]] = {
    "vault": names("version status"),
    "ansible-playbook": frozenset(),
    "ansible": frozenset(),
    "vagrant": names("status version global-status"),
    "oci": frozenset(),
}
_SECRETS = re.compile(r"(?i).*(secret|token|credential|password).*")


def database_risk(program: str, words: Words) -> Risk:
    """The risk of a database client."""
    if words and set(words) <= _ABOUT_ITSELF:
        return _LOOKS_AT_DATA
    if unknown(words):
        return _CHANGES_DATA
    if program in {"redis-cli", "valkey-cli"}:
        verb = _first(words, valued=_REDIS_VALUED)[:1]
        return _LOOKS_AT_DATA if verb and verb[0].casefold() in _REDIS_LOOKS else _CHANGES_DATA
    statements: list[str] = []
    for before, word in zip(("", *words), words, strict=False):
        option, sign, value = word.partition("=")
        if word in {"-f", "--file", "-i", "--init"} or option in {"--file", "--init-command"}:
            return _CHANGES_DATA
        if before in _STATEMENT_OPTIONS or _STATEMENT.search(word):
            statements.append(value if sign and option.startswith("--") else word)
    reads = all(_READS_DATA.match(text) and not _WRITES_DATA.search(text) for text in statements)
    return _LOOKS_AT_DATA if statements and reads and program not in {"mongosh", "mongo"} else _CHANGES_DATA


def service_risk(program: str, words: Words) -> Risk:
    """The risk of a client of clusters, clouds and hosting services."""
    plain = _first(words, valued=_VALUED)
    if words and (set(words) <= _ABOUT_ITSELF or "--syntax-check" in words or "--list-tasks" in words):
        return "medium", "looks at a service"
    looks = _ALONE.get(program, _LOOKS)
    verb = plain[1:2] if set(plain[:1]) & _GROUPS else plain[:1]
    hidden = unknown(words) or any(_SECRETS.fullmatch(word) for word in plain)
    if set(verb) & looks and not hidden and risky_word(words) is None:
        return "medium", "looks at a service, or works on what is sent there later"
    return "high", "may change or show what runs elsewhere"


def _first(words: Words, *, valued: frozenset[str]) -> list[str]:
    """The words that are neither options nor their values."""
    before = ("", *words)
    return [word for last, word in zip(before, words, strict=False) if not word.startswith("-") and last not in valued]
