"""Measures the phrases that the check names as "not said": on right claims, and on twins with wrong words."""

import hashlib
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, Field

from assistant.checking.features import strip_references
from assistant.checking.phrases.naming import UnsaidPhrase, find_unsaid_phrases
from corpus.encoder_choice import open_encoder
from corpus.encoders.base import Encoder
from corpus.settings import read_settings
from evaluation.answers.attribution import Verdict, evidence_sentences, read_pairs
from evaluation.answers.evidence_sets import WrittenPaper, read_abstracts
from evaluation.harness import Figures, Report, command, figures_table, share
from evaluation.input_files import EvaluationError, read_json_lines

FOLDS = 5
Part = Literal["develop", "held"]
_WORD = re.compile(r"[^\W_]+")


class WrittenClaim(BaseModel):
    """A claim about an abstract as a model might write it; `twin_of` is the right claim that it alters."""

    paper: str
    claim: str = Field(min_length=1)
    label: Verdict
    type: str
    twin_of: str = ""


def read_written_claims(data: Path) -> tuple[list[WrittenPaper], list[WrittenClaim]]:
    """Read the abstracts that claims are written about, and the claims; raises EvaluationError."""
    hint = "Each line has paper, claim, label and type."
    return read_abstracts(data), [
        claim
        for name in ("paper_claims", "paper_claim_twins")
        for claim in read_json_lines(data / "support" / f"{name}.jsonl", WrittenClaim, hint)
    ]


def fold_of(paper: str) -> int:
    return int(hashlib.sha256(paper.encode()).hexdigest(), 16) % FOLDS


@dataclass(frozen=True, slots=True)
class ClaimPhrases:
    """A claim with its phrases that were named; `right` is the number of right ones, None if unknown."""

    kind: str
    claim: str
    phrases: tuple[UnsaidPhrase, ...]
    right: int | None


def name_phrases(
    papers: Sequence[WrittenPaper], claims: Iterable[WrittenClaim], encoder: Encoder
) -> list[ClaimPhrases]:
    """Find the phrases of the claims about some papers that their abstracts do not say."""
    texts = {paper.paper: (*paper.sentences, paper.title) for paper in papers}
    named = []
    for claim in claims:
        if claim.paper in texts:
            phrases = find_unsaid_phrases(claim.claim, texts[claim.paper], encoder)
            is_wrong_twin = claim.twin_of and claim.label != "supported"
            kind = f"{'twin' if is_wrong_twin else claim.label}: {claim.type}"
            named.append(ClaimPhrases(kind, claim.claim, phrases, _count_right(claim, phrases)))
    return named


def _count_right(claim: WrittenClaim, phrases: Sequence[UnsaidPhrase]) -> int | None:
    """Count the phrases that overlap the altered words of a twin; 0 for a supported claim."""
    if claim.label == "supported":
        return 0
    if not claim.twin_of:
        return None
    changed = changed_spans(claim.twin_of, claim.claim)
    return sum(any(start < phrase.end and phrase.start < end for start, end in changed) for phrase in phrases)


def changed_spans(before: str, after: str) -> list[tuple[int, int]]:
    """Return the character spans of `after` with words that differ from `before`."""
    words = list(_WORD.finditer(after))
    matcher = SequenceMatcher(
        None, _WORD.findall(before.lower()), [word[0].lower() for word in words], autojunk=False
    )
    return [
        (words[first].start(), words[last - 1].end())
        for change, _, _, first, last in matcher.get_opcodes()
        if change in ("replace", "insert")
    ]


def summarize(named: Sequence[ClaimPhrases]) -> Figures:
    """Count claims, claims with a phrase, phrases and right ones, with precision and recall; also by kind.

    Precision counts only the phrases of twins and of supported claims, which are known to be right or wrong.
    """
    kinds = {kind: [item for item in named if item.kind == kind] for kind in sorted({n.kind for n in named})}
    return {**_counts(named), "kinds": {kind: _counts(items) for kind, items in kinds.items()}}


def _counts(named: Sequence[ClaimPhrases]) -> Figures:
    judged = [item for item in named if item.right is not None]
    right = sum(item.right or 0 for item in judged)
    twins = [item for item in judged if item.kind.startswith("twin")]
    return {
        "claims": len(named),
        "with_phrase": sum(bool(item.phrases) for item in named),
        "phrases": sum(len(item.phrases) for item in named),
        "right": right if judged else None,
        "precision": share(right, sum(len(item.phrases) for item in judged)),
        "recall": share(sum(bool(item.right) for item in twins), len(twins)),
    }


def count_pairs(path: Path, sets: Sequence[str], encoder: Encoder, sample: int | None) -> Figures:
    """Count the claims of labelled pairs, and those with a named phrase, by set and verdict."""
    counts: dict[str, Counter[str]] = {}
    for pair in read_pairs(path, sets, (), sample):
        group = counts.setdefault(f"{pair.set}, {pair.verdict}", Counter())
        group["claims"] += 1
        claim, sentences = strip_references(pair.claim), evidence_sentences(pair.references)
        group["with_phrase"] += bool(find_unsaid_phrases(claim, sentences, encoder))
    return {
        name: {**group, "share": share(group["with_phrase"], group["claims"])}
        for name, group in counts.items()
    }


@command("not-said")
def measure_unsaid(
    data: Path,
    *,
    part: Part = "develop",
    pairs: Path | None = None,
    only_set: list[str] | None = None,
    sample: int | None = None,
    show: bool = False,
) -> Report:
    encoder = open_encoder(read_settings())
    abstracts, claims = read_written_claims(data)
    papers = [paper for paper in abstracts if (fold_of(paper.paper) == 0) == (part == "held")]
    named = name_phrases(papers, claims, encoder)
    if not named:
        raise EvaluationError(f"No claim in {data} is about a paper of the part {part!r}.")
    figures = summarize(named)
    columns = {
        "claims": "Claims", "with_phrase": "With a phrase", "phrases": "Phrases", "right": "Right",
        "precision": "Precision", "recall": "Recall",
    }  # fmt: skip
    rows = {"all": figures, **figures["kinds"]}
    tables = [figures_table("Claims", rows, columns)]
    if pairs:
        figures["pairs"] = count_pairs(pairs, only_set or (), encoder, sample)
        heads = {"claims": "Claims", "with_phrase": "With a phrase", "share": "Share"}
        tables.append(figures_table("Pairs", figures["pairs"], heads))
    listed = (
        f"{item.kind}: {', '.join(phrase.text for phrase in item.phrases)} | {item.claim}"
        for item in named
        if show and item.phrases
    )
    return Report(figures, [*listed, *tables])
