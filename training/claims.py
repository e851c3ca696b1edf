"""Claims beside evidence, of the sets that may train: judged, written for papers, and altered."""

import random
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from pydantic import BaseModel, Field

from assistant.checking.overlap import score_attribution
from corpus.language.bm25 import Bm25
from evaluation.answers.attribution import pairs as labelled
from evaluation.answers.attribution.contrast import changes, names_in
from evaluation.answers.attribution.pairs import LabelledPair
from evaluation.answers.evidence.sets import WrittenPaper
from evaluation.input_files import read_json_lines
from training.files import FREE_SINCE, TrainingError, draw, grouped, hash_byte

PAIRS = Path("support") / "pairs.jsonl"
FOLDS = 5
LEVELS: Mapping[labelled.Verdict, float] = {"supported": 1.0, "partial": 0.5, "not": 0.0}
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
    free = grouped(
        (pair for pair in learned if kept.isdisjoint((pair.claim, "".join(pair.references)))), "set"
    )
    found: list[Claim] = []
    for name, count in most.items():
        if name not in free:
            raise TrainingError(f"There is no set {name!r} to learn from in {data}.")
        found += [
            Claim(name, pair.claim, labelled.evidence_sentences(pair.references), LEVELS[pair.verdict])
            for pair in draw(free[name], count, f"{seed}:{name}")
        ]
    return found


def held_pairs(data: Path, held: int, most: int) -> list[LabelledPair]:
    """Return at most `most` held-back pairs of each set."""
    back = grouped(_divided(data, held)[1], "set")
    return [pair for name in LEARNED_SPLITS for pair in draw(back.get(name, []), most, name)]


def _divided(data: Path, held: int) -> tuple[list[LabelledPair], list[LabelledPair]]:
    """Return the pairs learned from and those held back, of the sets that train."""
    pairs = [pair for pair in labelled.read_all_pairs(data / PAIRS) if pair.set in LEARNED_SPLITS]
    whole = [pair for pair in pairs if pair.split == "all"]
    folds = dict(zip(map(id, whole), (group % FOLDS for group in labelled.groups(whole)), strict=True))
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


class WrittenClaim(BaseModel):
    """A claim about an abstract as a model might write it; `twin_of` is a right one that it resembles."""

    paper: str
    claim: str = Field(min_length=1)
    label: labelled.Verdict
    type: str
    twin_of: str = ""


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
        twins = grouped((claim for claim in self.claims if claim.twin_of), "twin_of")
        return [
            tuple(self._claim(claim) for claim in (own, *twins.get(own.claim, ())))
            for own in self.claims
            if not own.twin_of
        ]

    def quotable(self) -> Claim:
        """Return the abstract as a claim and its evidence, for sentences that are quoted from it."""
        return Claim("papers", self.abstract.title, self.abstract.sentences, 1.0)

    def _claim(self, own: WrittenClaim) -> Claim:
        return Claim("papers", own.claim, self.abstract.sentences, LEVELS[own.label])


def paper_claims(data: Path) -> list[PaperClaims]:
    """Return the claims written for papers and their twins, by paper.

    Abstracts of before 2016, which may not train, are left out. Raises EvaluationError, or TrainingError for
    a paper or a twin that is not there.
    """
    read = data / "questions" / "papers_abstracts.jsonl"
    papers = read_json_lines(read, WrittenPaper, "Each line has paper, title, year and sentences.")
    hint = "Each line has paper, claim, label and type."
    claims = [
        claim
        for name in ("paper_claims", "paper_claim_twins")
        for claim in read_json_lines(data / "support" / f"{name}.jsonl", WrittenClaim, hint)
    ]
    by_paper, known = grouped(claims, "paper"), {(claim.paper, claim.claim) for claim in claims}
    if missing := by_paper.keys() - {paper.paper for paper in papers}:
        raise TrainingError(f"{read} lacks the paper {min(missing)!r}.")
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
                {
                    "claim": claim.claim,
                    "references": own.abstract.sentences,
                    "label": claim.label,
                    "set": "papers",
                }
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
    for name, few in grouped((claim for claim in claims if claim.level == 1), "set").items():
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
    for name, few in grouped((claim for claim in claims if claim.set not in WITHOUT_TOPIC), "set").items():
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
    taken = grouped((claim for claim in claims if claim.set in SHORT), "set")
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
