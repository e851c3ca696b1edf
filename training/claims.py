"""Reads and makes claims with evidence, of the data sets that may train: judged, written and altered ones.

An altered claim is made wrong by one change. An inserted number or name does not occur in the evidence, the
replaced one does.
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
# The splits for training; of a set without splits ("all"), all folds but one. The rest is for measuring.
LEARNED_SPLITS = {
    "citation_integrity": ("train",),
    "cad_nli": ("train", "test"),
    "fool_me_twice": ("test",),
    "fever_nli": ("test",),
    "scone": ("train",),
    "factcheck_gpt": ("all",),
}
# The file of a set of summaries, and True if a summary may say more than the text and must be checked.
SUMMARIES = {"scitldr": ("scitldr.jsonl", True), "aclsum": ("aclsum.jsonl", False)}
IN_ABSTRACT = 0.6  # lowest ROUGE-1 precision of an author's summary against the abstract
SECTIONS = ("abstract", "introduction", "conclusion")
NEAREST = 4  # wrong evidence is drawn from this many nearest texts
BESIDE = 3  # the most texts that are added to short evidence
# Sets of captions and one-line premises, for which BM25 finds no related evidence.
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
# For each unit, the other units of its kind, which change the meaning of a number.
OTHER_UNITS = {
    unit: tuple(other for other in kind.split() if other != unit)
    for kind in _WORDS["units"].split(";")
    for unit in kind.split()
}
# Replacements that make a claim say more than before, or the opposite, never less.
QUANTIFIERS = {
    word.strip(): tuple(other.strip() for other in others.split(","))
    for word, _, others in (entry.partition(":") for entry in _WORDS["quantifiers"].split(";"))
}
_COMPARISON = re.compile(rf"\b(?:{'|'.join(OPPOSITES)})\b", re.IGNORECASE)
_UNIT = re.compile(rf"(?<=\d)([ -]?)({'|'.join(sorted(OTHER_UNITS, key=len, reverse=True))})(?!\w)")
_QUANTIFIER = re.compile(rf"\b(?:{'|'.join(QUANTIFIERS)})\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Claim:
    """A claim, the sentences that it cites, and their support: 1 full, 0.5 partial, 0 none."""

    set: str
    claim: str
    sentences: tuple[str, ...]
    level: float


def labelled_claims(data: Path, most: Mapping[str, int], seed: int, held_fold: int) -> list[Claim]:
    """Return at most `most[name]` claims of each set for training; none shares a text with held-out pairs.

    Raises EvaluationError, or TrainingError for a set without claims.
    """
    training, held_out = _split_pairs(data, held_fold)
    held_out_texts = {text for pair in held_out for text in (pair.claim, "".join(pair.references))}
    by_set = group_by(
        (pair for pair in training if held_out_texts.isdisjoint((pair.claim, "".join(pair.references)))),
        "set",
    )
    claims: list[Claim] = []
    for name, count in most.items():
        if name not in by_set:
            raise TrainingError(f"There is no set {name!r} to learn from in {data}.")
        claims += [
            Claim(name, pair.claim, evidence_sentences(pair.references), LEVELS[pair.verdict])
            for pair in draw(by_set[name], count, f"{seed}:{name}")
        ]
    return claims


def held_out_pairs(data: Path, held_fold: int, most: int) -> list[LabelledPair]:
    """Return at most `most` held-out pairs of each set."""
    by_set = group_by(_split_pairs(data, held_fold)[1], "set")
    return [pair for name in LEARNED_SPLITS for pair in draw(by_set.get(name, []), most, name)]


def _split_pairs(data: Path, held_fold: int) -> tuple[list[LabelledPair], list[LabelledPair]]:
    """Return the pairs for training and the held-out pairs of the sets that may train."""
    pairs = [pair for pair in read_all_pairs(data / PAIRS) if pair.set in LEARNED_SPLITS]
    without_split = [pair for pair in pairs if pair.split == "all"]
    folds = dict(zip(map(id, without_split), (group % FOLDS for group in groups(without_split)), strict=True))
    training: list[LabelledPair] = []
    held_out: list[LabelledPair] = []
    for pair in pairs:
        is_training = pair.split in LEARNED_SPLITS[pair.set] and folds.get(id(pair)) != held_fold
        (training if is_training else held_out).append(pair)
    return training, held_out


class _Summarised(BaseModel):
    """A paper with summary sentences by its authors or by experts."""

    title: str = ""
    source: tuple[str, ...] | Mapping[str, tuple[str, ...]]
    targets: tuple[str, ...] = Field(min_length=1)

    @property
    def sentences(self) -> tuple[str, ...]:
        if isinstance(self.source, tuple):
            return self.source
        return tuple(text for name in SECTIONS for text in self.source.get(name, ()))


def summary_claims(data: Path, most: Mapping[str, int], seed: int) -> list[Claim]:
    """Return summary sentences of at most `most[name]` papers as claims, with the paper as evidence."""
    claims: list[Claim] = []
    for name, count in most.items():
        file, is_checked = SUMMARIES[name]
        path = data / "summaries" / file
        papers = read_json_lines(path, _Summarised, "Each line has source and targets.")
        claims += [
            Claim(name, target.strip(), paper.sentences, 1.0)
            for paper in draw(papers, count, f"{seed}:{name}")
            for target in paper.targets[: 1 if is_checked else None]
            if not is_checked or score_attribution(target, " ".join(paper.sentences)) >= IN_ABSTRACT
        ]
    return claims


@dataclass(frozen=True, slots=True)
class PaperClaims:
    """The claims about one paper, with the sentences of its abstract."""

    abstract: WrittenPaper
    claims: tuple[WrittenClaim, ...]

    @property
    def fold(self) -> int:
        return hash_byte(self.abstract.paper) % FOLDS

    def examples(self) -> list[tuple[Claim, ...]]:
        """Return each original claim followed by its wrong twins, if it has any."""
        twins = group_by((claim for claim in self.claims if claim.twin_of), "twin_of")
        return [
            tuple(
                Claim("papers", claim.claim, self.abstract.sentences, LEVELS[claim.label])
                for claim in (original, *twins.get(original.claim, ()))
            )
            for original in self.claims
            if not original.twin_of
        ]

    def quotable(self) -> Claim:
        """Return the title as a claim with the abstract as evidence, from which sentences can be quoted."""
        return Claim("papers", self.abstract.title, self.abstract.sentences, 1.0)


def paper_claims(data: Path) -> list[PaperClaims]:
    """Read the claims written for papers and their twins, by paper.

    Abstracts from before 2016, which may not be used for training, are left out. Raises EvaluationError, or
    TrainingError for a missing paper or twin.
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


def held_out_claims(data: Path, fold: int) -> list[tuple[WrittenClaim, LabelledPair]]:
    """Return the claims about the papers of a fold, each also as a pair with the sentences of its abstract.

    Raises EvaluationError, or TrainingError for a fold without papers.
    """
    claims = [
        (
            claim,
            LabelledPair.model_validate(
                claim.model_dump(include={"claim", "label"})
                | {"references": paper.abstract.sentences, "set": "papers"}
            ),
        )
        for paper in paper_claims(data)
        if paper.fold == fold
        for claim in paper.claims
    ]
    if not claims:
        raise TrainingError(f"No paper with claims in {data} is in fold {fold}.")
    return claims


def alter_claims(claims: Sequence[Claim], share: float, seed: int) -> list[Claim]:
    """Make a share of the supported claims wrong, each by one change."""
    altered = []
    for name, set_claims in group_by((claim for claim in claims if claim.level == 1), "set").items():
        names = names_in([claim.claim for claim in set_claims])
        for claim in set_claims:
            generator = random.Random(f"{seed}:altered:{name}:{claim.claim}")
            if generator.random() < share and (
                wrong := _make_wrong(claim.claim, claim.sentences, names, generator)
            ):
                altered.append(replace(claim, claim=wrong, level=0.0))
    return altered


def _make_wrong(
    claim: str, sentences: Sequence[str], names: Sequence[str], generator: random.Random
) -> str | None:
    """Make a claim wrong by one change, drawn evenly from the possible kinds; None if there is none."""
    wrong_claims = list(changes(claim, sentences, names))
    return generator.choice(wrong_claims) if wrong_claims else None


def replace_evidence(claims: Sequence[Claim], share: float, seed: int) -> list[Claim]:
    """Pair a share of the supported claims with the evidence of other claims that is nearest by BM25."""
    unsupported = []
    by_set = group_by((claim for claim in claims if claim.set not in WITHOUT_TOPIC), "set")
    for name, set_claims in by_set.items():
        texts = list(dict.fromkeys(claim.sentences for claim in set_claims))
        nearest = Bm25([" ".join(text) for text in texts])
        for claim in set_claims:
            generator = random.Random(f"{seed}:elsewhere:{name}:{claim.claim}")
            if claim.level == 1 and generator.random() < share:
                order = nearest.order(claim.claim, NEAREST + 1)
                others = [texts[index] for index in order if texts[index] != claim.sentences]
                if others:
                    unsupported.append(replace(claim, sentences=generator.choice(others), level=0.0))
    return unsupported


def extend_evidence(claims: Sequence[Claim], share: float, seed: int) -> list[Claim]:
    """Return all claims; a share of those with short evidence get evidence of other, similar claims added."""
    by_set = group_by((claim for claim in claims if claim.set in SHORT), "set")
    nearest = {
        name: Bm25([" ".join(claim.sentences) for claim in set_claims]) for name, set_claims in by_set.items()
    }

    def extend(claim: Claim) -> Claim:
        generator = random.Random(f"{seed}:among:{claim.set}:{claim.claim}")
        if claim.set not in SHORT or generator.random() >= share:
            return claim
        order = nearest[claim.set].order(claim.claim, 2 * BESIDE)
        near = (by_set[claim.set][index] for index in order)
        texts = list(dict.fromkeys(other.sentences for other in near if other.claim != claim.claim))
        texts = [*[text for text in texts if text != claim.sentences][:BESIDE], claim.sentences]
        generator.shuffle(texts)
        return replace(claim, sentences=tuple(sentence for text in texts for sentence in text))

    return [extend(claim) for claim in claims]


def quote_evidence(claims: Sequence[Claim], share: float, seed: int) -> list[Claim]:
    """Make claims that quote a sentence of the evidence, verbatim or shortened, right and altered.

    Some have the alteration in the evidence too, so that a negation or a number is no sign of a wrong claim.
    """
    names = names_in([claim.claim for claim in claims])
    quotes: list[Claim] = []
    for claim in {claim.sentences: claim for claim in claims}.values():
        generator = random.Random(f"{seed}:quoted:{claim.sentences[0]}")
        quotable = [sentence for sentence in claim.sentences if len(sentence.split()) in QUOTED_WORDS]
        if not quotable or generator.random() >= share:
            continue
        sentence = generator.choice(quotable)
        short = shorten_quote(sentence, generator)
        quotes.append(replace(claim, claim=short, level=1.0))
        if wrong := _make_wrong(short, claim.sentences, names, generator):
            quotes.append(replace(claim, claim=wrong, level=0.0))
        altered = _make_wrong(sentence, claim.sentences, names, generator)
        if altered and generator.random() < 0.5:
            evidence = tuple(altered if text == sentence else text for text in claim.sentences)
            quotes.append(replace(claim, claim=altered, sentences=evidence, level=1.0))
            quotes.append(replace(claim, claim=short, sentences=evidence, level=0.0))
    return quotes


def shorten_quote(sentence: str, generator: random.Random) -> str:
    """Shorten a sentence as answers do: without asides, sometimes without its opening or its last clause."""
    text = _ASIDE.sub("", sentence)
    if generator.random() < 0.6:
        text = _OPENING.sub("", text)
    if generator.random() < 0.4 and len((cut := _TAIL.sub("", text)).split()) >= QUOTED_WORDS.start:
        text = cut
    if generator.random() < 0.5:
        for first_person, replacement in _OURS:
            text = first_person.sub(replacement, text)
    return text[:1].upper() + text[1:]


def names_in(claims: Sequence[str]) -> list[str]:
    """List the distinct names in claims, as replacements for each other."""
    return sorted({name for claim in claims for name in _names(claim)})


def changes(claim: str, sentences: Sequence[str], names: Sequence[str]) -> Iterator[str]:
    """Yield a supported claim made wrong in each possible way; `sentences` is its evidence."""
    # Seeded by the claim, so that it is changed alike in every data set.
    choice = random.Random(claim)
    evidence = [read_statement(sentence) for sentence in sentences]
    wrong_claims = (
        change_number(claim, evidence, choice),
        change_negation(claim, evidence, choice),
        change_name(claim, evidence, names, choice),
        change_comparison(claim, choice),
        change_unit(claim, evidence, choice),
        change_quantifier(claim, choice),
    )
    yield from (wrong for wrong in wrong_claims if wrong and wrong != claim)


def change_number(claim: str, evidence: Sequence[Statement], choice: random.Random) -> str | None:
    """Change a number that the evidence has; None if there is none."""
    matches = [match for match in _NUMBER.finditer(claim) if _has_number(evidence, match[0])]
    if not matches:
        return None
    match = choice.choice(matches)
    for _ in range(TRIES):
        other = _other_number(match[1], match[2] or "", choice)
        if other != match[0] and not _has_number(evidence, other):
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


def _has_number(evidence: Sequence[Statement], number: str) -> bool:
    known = [other for sentence in evidence for other in sentence.numbers]
    return any(value.says(other) for value in read_statement(number).numbers for other in known)


def change_negation(claim: str, evidence: Sequence[Statement], choice: random.Random) -> str | None:
    """Insert a negation, or remove one if the evidence negates the same; None if neither is possible."""
    statement = read_statement(claim)
    if statement.negations:
        is_in_evidence = any(statement.negated & sentence.negated for sentence in evidence)
        match = _DENIAL.search(claim) if is_in_evidence else None
        if match is None:
            return None
        return claim[: match.start()] + (match["can"] or match["verb"] or "") + claim[match.end() :]
    verb = _draw(_AUXILIARY, claim, choice)
    return f"{claim[: verb.end()]} not{claim[verb.end() :]}" if verb else None


def change_name(
    claim: str, evidence: Sequence[Statement], names: Sequence[str], choice: random.Random
) -> str | None:
    """Change a name that the evidence has; None if there is none."""
    known = {stem for sentence in evidence for stem in sentence.stems}
    supported = [name for name in _names(claim) if _stems(name) <= known]
    if not supported:
        return None
    name = choice.choice(supported)
    unknown = [
        other
        for other in names
        if other.count(" ") == name.count(" ") and not _stems(other) & (known | _stems(claim))
    ]
    return re.sub(rf"\b{re.escape(name)}\b", choice.choice(unknown), claim) if unknown else None


def _names(claim: str) -> Iterator[str]:
    """Yield the names in a claim, without a single capitalised word at its beginning."""
    for match in _NAME.finditer(_LABEL.sub("", claim)):
        name = re.sub(r"['’]s?$", "", match[0]).rstrip("-")
        is_first_word = match.start() < 3 and " " not in name
        if not is_first_word and _stems(name) and name.partition(" ")[0].lower() not in word_lists().function:
            yield name


@cache
def _stems(text: str) -> frozenset[str]:
    return frozenset(stem(word) for word in read_statement(text).words if word not in word_lists().function)


def change_comparison(claim: str, choice: random.Random) -> str | None:
    """Reverse a comparison; None if there is none."""
    match = _draw(_COMPARISON, claim, choice)
    return _replace(claim, match, str(OPPOSITES[match[0].lower()])) if match else None


def change_unit(claim: str, evidence: Sequence[Statement], choice: random.Random) -> str | None:
    """Change the unit of a number to one that the evidence does not have; None if there is none."""
    known = {word for sentence in evidence for word in sentence.words}
    match = _draw(_UNIT, claim, choice)
    others = [unit for unit in OTHER_UNITS[match[2]] if unit not in known] if match else []
    if not match or not others:
        return None
    return f"{claim[: match.start()]}{match[1]}{choice.choice(others)}{claim[match.end() :]}"


def change_quantifier(claim: str, choice: random.Random) -> str | None:
    """Change "some" to "all", "most" to "few", and the like; None if there is no quantifier."""
    match = _draw(_QUANTIFIER, claim, choice)
    return _replace(claim, match, choice.choice(QUANTIFIERS[match[0].lower()])) if match else None


def _draw(pattern: re.Pattern[str], claim: str, choice: random.Random) -> re.Match[str] | None:
    matches = list(pattern.finditer(claim))
    return choice.choice(matches) if matches else None


def _replace(claim: str, match: re.Match[str], other: str) -> str:
    """Replace a word; the new one is capitalised if the old one was."""
    word = other[0].upper() + other[1:] if match[0][0].isupper() else other
    return claim[: match.start()] + word + claim[match.end() :]
