"""Claims made of others: altered, quoted in part, set beside other evidence, or beside more of it."""

import random
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from corpus.language import Bm25
from evaluation.answers.attribution.contrast import changes, names_in
from training.sets.claims import Claim

NEAREST = 4  # of the nearest other evidence one is taken by chance
BESIDE = 3  # texts that evidence of a sentence or two is set among
# Captions and one-line premises: nothing is found by their words that a reader would be shown beside them.
WITHOUT_TOPIC = frozenset({"cad_nli", "scone"})
SHORT = frozenset({"fool_me_twice", "fever_nli"})
QUOTED_WORDS = range(8, 46)
_ASIDE = re.compile(r"(?:(?<!\s)\s++)?[(\[][^()\[\]]{0,200}[)\]]")
_OPENING = re.compile(
    r"^(?:(?:[A-Z][^,;:.]{0,60}), (?=(?:we|the|our|a|an|it|this)\b)"
    r"|(?:\w+, )?[Ww]e (?:also |further )?(?:show|find|demonstrate|observe|argue|note) that )"
)
_TAIL = re.compile(r",? (?:which|where|while|whereas|and thus|thereby|because|by)\b[^.;]{0,300}(?=\.?$)")
_OURS = ((re.compile(r"\b[Ww]e\b"), "the authors"), (re.compile(r"\b[Oo]ur\b"), "their"))


def altered(claims: Sequence[Claim], share: float, seed: int) -> list[Claim]:
    """Return a share of the supported claims, each with one thing made wrong."""
    found = []
    for name, few in _by_set([claim for claim in claims if claim.level == 1]).items():
        names = names_in([claim.claim for claim in few])
        for claim in few:
            chance = random.Random(f"{seed}:altered:{name}:{claim.claim}")
            if chance.random() < share and (wrong := _wrong(claim.claim, claim.sentences, names, chance)):
                found.append(replace(claim, claim=wrong, level=0.0))
    return found


def _wrong(claim: str, sentences: Sequence[str], names: Sequence[str], chance: random.Random) -> str | None:
    """Return the claim with one thing changed; every kind of change that it allows is as likely."""
    found = [changed for _, changed in changes(claim, sentences, names)]
    return chance.choice(found) if found else None


def elsewhere(claims: Sequence[Claim], share: float, seed: int) -> list[Claim]:
    """Return a share of the supported claims, each beside other evidence that a search by its words finds."""
    found = []
    for name, few in _by_set(claims).items():
        if name in WITHOUT_TOPIC:
            continue
        texts = list(dict.fromkeys(claim.sentences for claim in few))
        nearest = Bm25([" ".join(text) for text in texts])
        for claim in few:
            chance = random.Random(f"{seed}:elsewhere:{name}:{claim.claim}")
            if claim.level == 1 and chance.random() < share:
                order = nearest.order(claim.claim, NEAREST + 1)
                others = [texts[index] for index in order if texts[index] != claim.sentences]
                if others:
                    found.append(replace(claim, sentences=chance.choice(others), level=0.0))
    return found


def among_others(claims: Sequence[Claim], share: float, seed: int) -> list[Claim]:
    """Return the claims, a share of those with short evidence beside more, that a search finds too."""
    taken = {name: few for name, few in _by_set(claims).items() if name in SHORT}
    nearest = {name: Bm25([" ".join(claim.sentences) for claim in few]) for name, few in taken.items()}

    def mixed(claim: Claim) -> Claim:
        chance = random.Random(f"{seed}:among:{claim.set}:{claim.claim}")
        if claim.set not in SHORT or chance.random() >= share:
            return claim
        few = taken[claim.set]
        order = nearest[claim.set].order(claim.claim, 2 * BESIDE)
        texts = list(dict.fromkeys(few[at].sentences for at in order if few[at].claim != claim.claim))
        texts = [*[text for text in texts if text != claim.sentences][:BESIDE], claim.sentences]
        chance.shuffle(texts)
        return replace(claim, sentences=tuple(one for text in texts for one in text))

    return [mixed(claim) for claim in claims]


def quoted(claims: Sequence[Claim], share: float, seed: int) -> list[Claim]:
    """Return sentences of the papers of some claims, as they stand or shortened, right and altered.

    Of some, the paper is altered as the claim is: a negation or another number is then no sign by itself.
    """
    names = names_in([claim.claim for claim in claims])
    found: list[Claim] = []
    for claim in {claim.sentences: claim for claim in claims}.values():
        chance = random.Random(f"{seed}:quoted:{claim.sentences[0]}")
        whole = [one for one in claim.sentences if len(one.split()) in QUOTED_WORDS]
        if whole and chance.random() < share:
            found += _quotations(claim, chance.choice(whole), names, chance)
    return found


def _quotations(claim: Claim, sentence: str, names: Sequence[str], chance: random.Random) -> Iterator[Claim]:
    short = shortened(sentence, chance)
    yield replace(claim, claim=short, level=1.0)
    if wrong := _wrong(short, claim.sentences, names, chance):
        yield replace(claim, claim=wrong, level=0.0)
    if (other := _wrong(sentence, claim.sentences, names, chance)) and chance.random() < 0.5:
        changed = tuple(other if one == sentence else one for one in claim.sentences)
        yield replace(claim, claim=other, sentences=changed, level=1.0)
        yield replace(claim, claim=short, sentences=changed, level=0.0)


def shortened(sentence: str, chance: random.Random) -> str:
    """Return a sentence as answers tell it: without asides, by chance without its opening or its tail."""
    told = _ASIDE.sub("", sentence)
    if chance.random() < 0.6:
        told = _OPENING.sub("", told)
    if chance.random() < 0.4 and len((cut := _TAIL.sub("", told)).split()) >= QUOTED_WORDS.start:
        told = cut
    if chance.random() < 0.5:
        for own, other in _OURS:
            told = own.sub(other, told)
    return told[:1].upper() + told[1:]


def _by_set(claims: Sequence[Claim]) -> Mapping[str, list[Claim]]:
    found: dict[str, list[Claim]] = {}
    for claim in claims:
        found.setdefault(claim.set, []).append(claim)
    return found
