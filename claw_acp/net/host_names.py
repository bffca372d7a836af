"""Names of hosts as they are looked up."""

import idna


def looked_up(name: str) -> str:
    """The ASCII form of a name with other letters or dots, as httpx sends it; unchanged where there is none."""
    try:
        return idna.encode(name.lower()).decode("ascii")
    except idna.IDNAError:
        return name
