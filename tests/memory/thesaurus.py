"""An embedding from a thesaurus, for questions in other words: near are texts whose words are near in WordNet.

It is honest, and no good one: words are taken without their context, and nothing in it knows the questions. What it
needs of the Open English WordNet stands in `questions/wordnet.tsv`, one line for each word of the question set: how
much the word tells, then its features with their weights. `python -m tests.memory.thesaurus CHECKOUT` writes that file
from a checkout of https://github.com/globalwordnet/english-wordnet, by the same rule for every word.
"""

import csv
import math
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from hashlib import blake2b
from pathlib import Path
from typing import Any, Final

QUESTIONS: Final = Path(__file__).parent / "questions"
FILE: Final = QUESTIONS / "wordnet.tsv"
NOTICE: Final = (
    "# From the Open English WordNet, (c) The Open English WordNet Team, CC BY 4.0, "
    "derived from Princeton WordNet, (c) Princeton University, under the WordNet License."
)
SIZE: Final = 384
DIRECTIONS: Final = 8  # numbers of a vector that one feature moves
SENSES: Final = 4  # of a word in each part of speech; the others are rare
FEATURES: Final = 24  # of a word; the strongest
ENDINGS: Final = ("", "s", "es", "d", "ed", "ing", "er", "ers", "ly")
UNKNOWN: Final = 10.0  # the weight of a word that is in no dictionary: mostly a name


def embedded(text: str) -> list[float]:
    """The vector of a text."""
    vector = [0.0] * SIZE
    for word in words(text):
        weight, features = _table().get(word, (UNKNOWN, {f"={word}": 1.0}))
        for feature, share in features.items():
            digest = blake2b(feature.encode(), digest_size=2 * DIRECTIONS).digest()
            for at in range(DIRECTIONS):
                number = int.from_bytes(digest[2 * at : 2 * at + 2], "big")
                vector[number % SIZE] += weight * share * (1 if number & 0x8000 else -1)
    return vector if any(vector) else [1.0] * SIZE


def words(text: str) -> Sequence[str]:
    return re.findall(r"[a-z]{2,}|\d+", text.casefold())


@cache
def _table() -> Mapping[str, tuple[float, Mapping[str, float]]]:
    found: dict[str, tuple[float, Mapping[str, float]]] = {}
    for line in FILE.read_text(encoding="utf-8").splitlines()[1:]:
        word, weight, *features = line.split("\t")
        pairs = (feature.rpartition(":") for feature in features)
        found[word] = float(weight), {name: float(share) for name, _, share in pairs}
    return found


# ------------------------------------------------------------------ making the file


def main() -> None:
    """Write the file from a checkout of the WordNet."""
    import yaml

    synsets: dict[str, Any] = {}
    entries: dict[str, Any] = {}
    for path in sorted((Path(sys.argv[1]) / "src" / "yaml").glob("*.yaml")):
        if path.name != "frames.yaml":
            table = yaml.load(path.read_text(encoding="utf-8"), Loader=yaml.CSafeLoader)
            (entries if path.name.startswith("entries-") else synsets).update(table)
    senses = {
        sense["id"]: sense["synset"] for entry in entries.values() for part in entry.values() for sense in part["sense"]
    }
    glosses = Counter(word for synset in synsets.values() for word in set(words(" ".join(synset["definition"]))))
    features = {
        lemma: dict(_features(lemma, entry, synsets, senses)) for lemma, entry in entries.items() if lemma.isalpha()
    }
    frequency = Counter(feature for found in features.values() for feature in found)
    with (QUESTIONS / "facts.tsv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t"))
    vocabulary = {word for row in rows for text in row.values() for word in words(str(text))}
    lines = [NOTICE]
    for word in sorted(vocabulary):
        joined: defaultdict[str, float] = defaultdict(float)
        for lemma in _lemmas(word, features):
            for feature, share in features[lemma].items():
                joined[feature] += share * math.log(len(features) / frequency[feature])
        if joined:
            strongest = sorted(joined.items(), key=lambda pair: (-pair[1], pair[0]))[:FEATURES]
            length = math.sqrt(sum(share * share for _, share in strongest))
            weight = math.log(len(synsets) / (1 + glosses[word]))
            lines.append(
                "\t".join((word, f"{weight:.2f}", *(f"{name}:{share / length:.3f}" for name, share in strongest)))
            )
    FILE.write_text("\n".join(lines) + "\n", encoding="utf-8")


def _lemmas(word: str, known: Mapping[str, object]) -> Sequence[str]:
    """The forms of a word that a dictionary lists."""
    stems = [word.removesuffix(ending) for ending in ENDINGS if word.endswith(ending)]
    stems += [f"{stem}e" for stem in stems] + [f"{word[:-3]}y"] * word.endswith("ies")
    doubled = [stem[:-1] for stem in stems if len(stem) > 3 and stem[-1] == stem[-2]]
    return [stem for stem in dict.fromkeys([*stems, *doubled]) if stem in known and len(stem) > 1]


def _features(lemma: str, entry: Any, synsets: Any, senses: Any) -> Iterator[tuple[str, float]]:
    """A word is near to itself, its synsets, what these are kinds of, words derived from it, words of its glosses."""
    found: defaultdict[str, float] = defaultdict(float)
    found[f"={lemma}"] += 1.0
    for part in entry.values():
        for rank, sense in enumerate(part["sense"][:SENSES], start=1):
            share = 1 / rank
            found[sense["synset"]] += share
            synset = synsets[sense["synset"]]
            for derived in sense.get("derivation", ()):
                found[senses.get(derived, derived)] += share / 2
            for above in (*synset.get("hypernym", ()), *synset.get("similar", ())):
                found[above] += share / 2
                for higher in synsets.get(above, {}).get("hypernym", ()):
                    found[higher] += share / 4
            for word in set(words(synset["definition"][0])):
                found[f"={word}"] += share / 4
    yield from found.items()


if __name__ == "__main__":
    main()
