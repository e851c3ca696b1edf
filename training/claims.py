"""Claims beside evidence, of the sets that may train: judged, written for papers, and altered.

A claim made wrong on purpose has one thing changed. The number or name put in stands nowhere in the
evidence, the one taken out does.
"""

import random
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from pydantic import BaseModel, Field

from assistant.checking.comparable_text import Statement, read_statement, stem, word_lists
from assistant.checking.overlap import score_attribution
from corpus.language.bm25 import Bm25
from evaluation.answers.attribution import LabelledPair, Verdict, evidence_sentences, groups, read_all_pairs
from evaluation.answers.evidence_sets import ABSTRACTS, WrittenPaper
from evaluation.answers.not_said import WrittenClaim, read_written_claims
from evaluation.harness import group_by
from evaluation.input_files import read_json_lines
from training.files import FOLDS, FREE_SINCE, TrainingError, draw, hash_byte

PAIRS = Path("support") / "pairs.jsonl"
LEVELS: Mapping[Verdict, float] = {"supported": 1.0, "partial": 0.5, "not": 0.0}
# The splits that are learned from; of a set without splits ("all") all but one fold. The rest only measures.
LEARNED_SPLITS = {
    "citation_integrity": ("train",),
    "cad_nli": ("train", "test"),
    "fool_me_twice": ("test",),
    "fever_nli": ("test",),
    "scone": ("train",),
    "factcheck_gpt": ("all",),
}
# The file of a set of summaries, and whether a claim may say more than the text that is read.
SUMMARIES = {"scitldr": ("scitldr.jsonl", True), "aclsum": ("aclsum.jsonl", False)}
IN_ABSTRACT = 0.6  # least ROUGE-1 precision of an author's summary against the abstract
SECTIONS = ("abstract", "introduction", "conclusion")
NEAREST = 4  # other evidence is drawn from the nearest
BESIDE = 3  # texts that short evidence is put among
# Captions and one-line premises: a search by words finds no related evidence.
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
TRIES = 20
_NUMBER = re.compile(r"(?<![\w.,\[-])(\d{1,3}(?:,\d{3})+|\d+)(\.\d+)?(?![\w\]]|[.,]\d)")
_LABEL = re.compile(r"\[\d+\]")
_AUXILIARY = re.compile(
    r"\b(is|are|was|were|can|could|will|would|should|may|might|must|has|have|had|does|did|do)\b(?! not\b)",
    re.IGNORECASE,
)
_DENIAL = re.compile(
    r"\b(?P<can>can)not\b|\b(?P<verb>is|are|was|were|do|does|did|has|have|had|could|would|should)n['’]t\b"
    r"|(?<!\s)\s++(?:not|never)\b",
    re.IGNORECASE,
)
_NAME = re.compile(r"[A-Z][\w&'’-]+(?: [A-Z][\w&'’-]+)*")
_WORDS = tomllib.loads(Path(__file__).with_name("contrast.toml").read_text(encoding="utf-8"))
_PAIRS = [pair.split() for pair in _WORDS["opposites"].split(";")]
OPPOSITES = dict(_PAIRS) | {other: word for word, other in _PAIRS}
# Units of a kind: with another of them a number says something else.
OTHER_UNITS = {
    unit: tuple(other for other in kind.split() if other != unit)
    for kind in _WORDS["units"].split(";")
    for unit in kind.split()
}
# Replacements after which the claim says more than before or the reverse, never less.
QUANTIFIERS = {
    word.strip(): tuple(other.strip() for other in others.split(","))
    for word, _, others in (entry.partition(":") for entry in _WORDS["quantifiers"].split(";"))
}
_COMPARISON = re.compile(rf"\b(?:{'|'.join(OPPOSITES)})\b", re.IGNORECASE)
_UNIT = re.compile(rf"(?<=\d)([ -]?)({'|'.join(sorted(OTHER_UNITS, key=len, reverse=True))})(?!\w)")
_QUANTIFIER = re.compile(rf"\b(?:{'|'.join(QUANTIFIERS)})\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Claim:
    """A claim, the sentences that it cites, and how far they support it: 1, in part .5, not 0."""

    set: str
    claim: str
    sentences: tuple[str, ...]
    level: float


def labelled_claims(data: Path, most: Mapping[str, int], seed: int, held: int) -> list[Claim]:
    """Return at most `most[name]` claims of each set; none shares a text with held-back ones.

    Raises EvaluationError, or TrainingError for a set without claims.
    """
    learned, back = _divided(data, held)
    kept = {text for pair in back for text in (pair.claim, "".join(pair.references))}
    free = group_by(
        (pair for pair in learned if kept.isdisjoint((pair.claim, "".join(pair.references)))), "set"
    )
    found: list[Claim] = []
    for name, count in most.items():
        if name not in free:
            raise TrainingError(f"There is no set {name!r} to learn from in {data}.")
        found += [
            Claim(name, pair.claim, evidence_sentences(pair.references), LEVELS[pair.verdict])
            for pair in draw(free[name], count, f"{seed}:{name}")
        ]
    return found


def held_pairs(data: Path, held: int, most: int) -> list[LabelledPair]:
    """Return at most `most` held-back pairs of each set."""
    back = group_by(_divided(data, held)[1], "set")
    return [pair for name in LEARNED_SPLITS for pair in draw(back.get(name, []), most, name)]


def _divided(data: Path, held: int) -> tuple[list[LabelledPair], list[LabelledPair]]:
    """Return the pairs learned from and those held back, of the sets that train."""
    pairs = [pair for pair in read_all_pairs(data / PAIRS) if pair.set in LEARNED_SPLITS]
    whole = [pair for pair in pairs if pair.split == "all"]
    folds = dict(zip(map(id, whole), (group % FOLDS for group in groups(whole)), strict=True))
    divided: tuple[list[LabelledPair], list[LabelledPair]] = ([], [])
    for pair in pairs:
        is_learned = pair.split in LEARNED_SPLITS[pair.set] and folds.get(id(pair)) != held
        divided[not is_learned].append(pair)
    return divided


class _Summarised(BaseModel):
    """A paper with sentences that sum it up, by its authors or by experts."""

    title: str = ""
    source: tuple[str, ...] | Mapping[str, tuple[str, ...]]
    targets: tuple[str, ...] = Field(min_length=1)

    @property
    def sentences(self) -> tuple[str, ...]:
        if isinstance(self.source, tuple):
            return self.source
        return tuple(text for name in SECTIONS for text in self.source.get(name, ()))


def summary_claims(data: Path, most: Mapping[str, int], seed: int) -> list[Claim]:
    """Return summary sentences of at most `most[name]` papers of each set, beside the papers' text."""
    found: list[Claim] = []
    for name, count in most.items():
        file, is_checked = SUMMARIES[name]
        path = data / "summaries" / file
        papers = read_json_lines(path, _Summarised, "Each line has source and targets.")
        found += [
            Claim(name, target.strip(), paper.sentences, 1.0)
            for paper in draw(papers, count, f"{seed}:{name}")
            for target in paper.targets[: 1 if is_checked else None]
            if not is_checked or score_attribution(target, " ".join(paper.sentences)) >= IN_ABSTRACT
        ]
    return found


@dataclass(frozen=True, slots=True)
class PaperClaims:
    """The claims about one paper, with the sentences of its abstract."""

    abstract: WrittenPaper
    claims: tuple[WrittenClaim, ...]

    @property
    def fold(self) -> int:
        return hash_byte(self.abstract.paper) % FOLDS

    def examples(self) -> list[tuple[Claim, ...]]:
        """Return each claim alone, and each right one together with its wrong twins, the right one first."""
        twins = group_by((claim for claim in self.claims if claim.twin_of), "twin_of")
        return [
            tuple(
                Claim("papers", claim.claim, self.abstract.sentences, LEVELS[claim.label])
                for claim in (own, *twins.get(own.claim, ()))
            )
            for own in self.claims
            if not own.twin_of
        ]

    def quotable(self) -> Claim:
        """Return the abstract as a claim and its evidence, for sentences that are quoted from it."""
        return Claim("papers", self.abstract.title, self.abstract.sentences, 1.0)


def paper_claims(data: Path) -> list[PaperClaims]:
    """Return the claims written for papers and their twins, by paper.

    Abstracts of before 2016, which may not train, are left out. Raises EvaluationError, or TrainingError for
    a paper or a twin that is not there.
    """
    papers, claims = read_written_claims(data)
    by_paper, known = group_by(claims, "paper"), {(claim.paper, claim.claim) for claim in claims}
    if missing := by_paper.keys() - {paper.paper for paper in papers}:
        raise TrainingError(f"{data / 'questions' / ABSTRACTS} lacks the paper {min(missing)!r}.")
    for claim in claims:
        if claim.twin_of and (claim.paper, claim.twin_of) not in known:
            raise TrainingError(f"The paper {claim.paper!r} has no claim {claim.twin_of!r}.")
    return [
        PaperClaims(paper, tuple(by_paper[paper.paper]))
        for paper in papers
        if paper.paper in by_paper and paper.year >= FREE_SINCE
    ]


def held_claims(data: Path, held: int) -> list[tuple[WrittenClaim, LabelledPair]]:
    """Return the claims about held-back papers, each beside the sentences of its abstract.

    Raises EvaluationError, or TrainingError where no paper is held back.
    """
    found = [
        (
            claim,
            LabelledPair.model_validate(
                claim.model_dump(include={"claim", "label"})
                | {"references": own.abstract.sentences, "set": "papers"}
            ),
        )
        for own in paper_claims(data)
        if own.fold == held
        for claim in own.claims
    ]
    if not found:
        raise TrainingError(f"Of the papers with claims in {data} none is in fold {held}.")
    return found


def altered(claims: Sequence[Claim], share: float, seed: int) -> list[Claim]:
    """Return a share of the supported claims, each with one thing made wrong."""
    found = []
    for name, few in group_by((claim for claim in claims if claim.level == 1), "set").items():
        names = names_in([claim.claim for claim in few])
        for claim in few:
            chance = random.Random(f"{seed}:altered:{name}:{claim.claim}")
            if chance.random() < share and (wrong := _wrong(claim.claim, claim.sentences, names, chance)):
                found.append(replace(claim, claim=wrong, level=0.0))
    return found


def _wrong(claim: str, sentences: Sequence[str], names: Sequence[str], chance: random.Random) -> str | None:
    """Return the claim with one thing changed, all possible kinds of change being equally likely."""
    found = list(changes(claim, sentences, names))
    return chance.choice(found) if found else None


def elsewhere(claims: Sequence[Claim], share: float, seed: int) -> list[Claim]:
    """Return a share of the supported claims, each beside other evidence that is near by words."""
    found = []
    for name, few in group_by((claim for claim in claims if claim.set not in WITHOUT_TOPIC), "set").items():
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
    """Return the claims, a share of those with short evidence beside more that is near by words."""
    taken = group_by((claim for claim in claims if claim.set in SHORT), "set")
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
        return replace(claim, sentences=tuple(sentence for text in texts for sentence in text))

    return [mixed(claim) for claim in claims]


def quoted(claims: Sequence[Claim], share: float, seed: int) -> list[Claim]:
    """Return sentences of some claims' papers, verbatim or shortened, right and altered.

    Some papers are altered as the claim is, so that a negation or a number is no sign by itself.
    """
    names = names_in([claim.claim for claim in claims])
    found: list[Claim] = []
    for claim in {claim.sentences: claim for claim in claims}.values():
        chance = random.Random(f"{seed}:quoted:{claim.sentences[0]}")
        whole = [sentence for sentence in claim.sentences if len(sentence.split()) in QUOTED_WORDS]
        if not whole or chance.random() >= share:
            continue
        sentence = chance.choice(whole)
        short = shortened(sentence, chance)
        found.append(replace(claim, claim=short, level=1.0))
        if wrong := _wrong(short, claim.sentences, names, chance):
            found.append(replace(claim, claim=wrong, level=0.0))
        if (other := _wrong(sentence, claim.sentences, names, chance)) and chance.random() < 0.5:
            changed = tuple(other if own == sentence else own for own in claim.sentences)
            found.append(replace(claim, claim=other, sentences=changed, level=1.0))
            found.append(replace(claim, claim=short, sentences=changed, level=0.0))
    return found


def shortened(sentence: str, chance: random.Random) -> str:
    """Return a sentence as answers quote it: without asides, sometimes without its opening or its tail."""
    text = _ASIDE.sub("", sentence)
    if chance.random() < 0.6:
        text = _OPENING.sub("", text)
    if chance.random() < 0.4 and len((cut := _TAIL.sub("", text)).split()) >= QUOTED_WORDS.start:
        text = cut
    if chance.random() < 0.5:
        for own, other in _OURS:
            text = own.sub(other, text)
    return text[:1].upper() + text[1:]


def names_in(claims: Sequence[str]) -> list[str]:
    """List the names of claims, each once, to swap a name for another."""
    return sorted({name for claim in claims for name in _names(claim)})


def changes(claim: str, sentences: Sequence[str], names: Sequence[str]) -> Iterator[str]:
    """Yield a claim made wrong, in each way that it can be, beside sentences that carry it."""
    # The claim itself seeds the choice, so that a pair is changed alike in any file.
    choice = random.Random(claim)
    evidence = [read_statement(sentence) for sentence in sentences]
    changed = (
        change_number(claim, evidence, choice),
        change_negation(claim, evidence, choice),
        change_name(claim, evidence, names, choice),
        change_comparison(claim, choice),
        change_unit(claim, evidence, choice),
        change_quantifier(claim, choice),
    )
    yield from (other for other in changed if other and other != claim)


def change_number(claim: str, evidence: Sequence[Statement], choice: random.Random) -> str | None:
    """Change a number that the evidence has; return None where there is none."""
    found = [match for match in _NUMBER.finditer(claim) if _stands(match[0], evidence)]
    if not found:
        return None
    match = choice.choice(found)
    for _ in range(TRIES):
        other = _other_number(match[1], match[2] or "", choice)
        if other != match[0] and not _stands(other, evidence):
            return claim[: match.start()] + other + claim[match.end() :]
    return None


def _other_number(whole: str, decimals: str, choice: random.Random) -> str:
    """Draw a number of the same shape: a year stays a year, 91.2 keeps one decimal, 1,000 its comma."""
    value = int(whole.replace(",", ""))
    if 1000 <= value <= 2100 and "," not in whole and not decimals:
        return str(value + choice.choice((-1, 1)) * choice.randint(2, 30))
    other = choice.randint(max(2, value // 3), value * 2 + 5)
    fraction = f".{choice.randint(0, 10 ** (len(decimals) - 1) - 1):0{len(decimals) - 1}}" if decimals else ""
    return (f"{other:,}" if "," in whole else str(other)) + fraction


def _stands(number: str, evidence: Sequence[Statement]) -> bool:
    held = [other for sentence in evidence for other in sentence.numbers]
    return any(own.says(other) for own in read_statement(number).numbers for other in held)


def change_negation(claim: str, evidence: Sequence[Statement], choice: random.Random) -> str | None:
    """Put a negation in, or drop one where the evidence denies the same; return None where neither goes."""
    stated = read_statement(claim)
    if stated.negations:
        denied = any(stated.negated & sentence.negated for sentence in evidence)
        found = _DENIAL.search(claim) if denied else None
        if found is None:
            return None
        return claim[: found.start()] + (found["can"] or found["verb"] or "") + claim[found.end() :]
    place = _draw(_AUXILIARY, claim, choice)
    return f"{claim[: place.end()]} not{claim[place.end() :]}" if place else None


def change_name(
    claim: str, evidence: Sequence[Statement], names: Sequence[str], choice: random.Random
) -> str | None:
    """Change a name that the evidence has; return None where there is none."""
    held = {part for sentence in evidence for part in sentence.stems}
    own = [name for name in _names(claim) if _stems(name) <= held]
    if not own:
        return None
    name = choice.choice(own)
    unknown = [
        other
        for other in names
        if other.count(" ") == name.count(" ") and not _stems(other) & (held | _stems(claim))
    ]
    return re.sub(rf"\b{re.escape(name)}\b", choice.choice(unknown), claim) if unknown else None


def _names(claim: str) -> Iterator[str]:
    """Yield the names of a claim; a single capital at its beginning may be no name."""
    for match in _NAME.finditer(_LABEL.sub("", claim)):
        name = re.sub(r"['’]s?$", "", match[0]).rstrip("-")
        opens = match.start() < 3 and " " not in name
        if not opens and _stems(name) and name.partition(" ")[0].lower() not in word_lists().function:
            yield name


@cache
def _stems(text: str) -> frozenset[str]:
    return frozenset(stem(word) for word in read_statement(text).words if word not in word_lists().function)


def change_comparison(claim: str, choice: random.Random) -> str | None:
    """Reverse a comparison; return None where there is none."""
    match = _draw(_COMPARISON, claim, choice)
    return _replace(claim, match, str(OPPOSITES[match[0].lower()])) if match else None


def change_unit(claim: str, evidence: Sequence[Statement], choice: random.Random) -> str | None:
    """Change the unit of a number to one that the evidence does not have."""
    said_units = {word for sentence in evidence for word in sentence.words}
    match = _draw(_UNIT, claim, choice)
    others = [unit for unit in OTHER_UNITS[match[2]] if unit not in said_units] if match else []
    if not match or not others:
        return None
    return f"{claim[: match.start()]}{match[1]}{choice.choice(others)}{claim[match.end() :]}"


def change_quantifier(claim: str, choice: random.Random) -> str | None:
    """Change "some" to "all", "most" to "few", and the like; return None where there is none."""
    match = _draw(_QUANTIFIER, claim, choice)
    return _replace(claim, match, choice.choice(QUANTIFIERS[match[0].lower()])) if match else None


def _draw(pattern: re.Pattern[str], claim: str, choice: random.Random) -> re.Match[str] | None:
    found = list(pattern.finditer(claim))
    return choice.choice(found) if found else None


def _replace(claim: str, match: re.Match[str], other: str) -> str:
    """Replace a word, keeping its capital."""
    word = other[0].upper() + other[1:] if match[0][0].isupper() else other
    return claim[: match.start()] + word + claim[match.end() :]
