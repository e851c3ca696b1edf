"""The classifier of related-work sentences: what each does with the papers it cites (CORWA's tags).

A linear-chain conditional random field (Lafferty et al., 2001) over the sentences of a paragraph, trained by
its likelihood. Features do not depend on the style of citing.
"""

import base64
import hashlib
import re
import zlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, Field, ValidationError, model_validator
from rich.table import Table
from scipy.optimize import minimize
from scipy.sparse import csr_matrix, hstack
from scipy.special import logsumexp
from sklearn.metrics import accuracy_score, f1_score

from corpus.encoders import Encoder, SentenceEncoder
from evaluation.harness import Report, command, decimals, table
from evaluation.input_files import DATA, EvaluationError, read_json_lines
from evaluation.summaries.citation_style import CITE, CitingSentence, neutral, with_labels

Tag = Literal["Single_summ", "Multi_summ", "Narrative_cite", "Reflection", "Transition", "Other"]
TAGS: tuple[Tag, ...] = get_args(Tag)
# Sentences that compare papers with each other, or the work at hand with papers.
COMPARATIVE: tuple[Tag, ...] = ("Multi_summ", "Reflection")
# A sentence that cites as many works compares by counting.
WORKS_COMPARED = 2
TAG_WEIGHTS = DATA / "sentence_tags.json"
NAME, SHRINK, SHRINK_STEPS, ITERATIONS = "sentence-tags-1", 8.0, 0.1, 120
# Papers whose id's hash begins with a smaller byte, a quarter of them, are held out.
_HELD_OUT_BELOW = 64
BUCKETS = 8192
# The weight of all words, and of a sentence's vector, beside single features.
WORDS_WEIGHT, MEANING_WEIGHT = 8.0, 4.0
OPENING = 8
_LABEL = re.compile(r"\[\d+\]")
_WORD = re.compile(r"\w+(?:[-'’]\w+)*|[(),:;%?]")
_FIRST_PERSON = frozenset("we our us ours".split())
_HERE = frozenset("paper work study article".split())
# Summaries for readers call "the proposed work" what a paper calls its own.
_PROPOSED = re.compile(
    r"\b(?:the (?:work )?(?:proposed|described|planned)(?: (?:work|approach|method|system|study|here))*"
    r"|your (?:description|work|proposal|approach)|the description)\b",
    re.IGNORECASE,
)

Matrix = NDArray[np.float64]
Numbers = NDArray[np.int64]
# Paragraphs, each with its sentences.
Paragraphs = Sequence[Sequence[str]]
Provenance = dict[str, str | int | float | dict[str, float]]


class TaggedParagraph(BaseModel, frozen=True, extra="ignore"):
    """Sentences of one paragraph, each with its tag."""

    sentences: tuple[str, ...] = Field(max_length=1000)
    tags: tuple[Tag, ...]

    @model_validator(mode="after")
    def _have_a_tag_each(self) -> "TaggedParagraph":
        if len(self.sentences) != len(self.tags):
            raise ValueError(f"{len(self.sentences)} sentences have {len(self.tags)} tags")
        return self


class TaggedSection(BaseModel, frozen=True, extra="ignore"):
    """A paper's section on related work."""

    s2_paper_id: str = Field(min_length=1)
    paragraphs: tuple[TaggedParagraph, ...]

    @property
    def is_held_out(self) -> bool:
        return hashlib.sha256(self.s2_paper_id.encode()).digest()[0] < _HELD_OUT_BELOW

    @property
    def tags(self) -> tuple[Tag, ...]:
        return tuple(tag for paragraph in self.paragraphs for tag in paragraph.tags)

    @property
    def text(self) -> tuple[tuple[str, ...], ...]:
        """The sentences, paragraph by paragraph; empty paragraphs are left out."""
        return tuple(paragraph.sentences for paragraph in self.paragraphs if paragraph.sentences)


def read_sections(path: Path) -> tuple[TaggedSection, ...]:
    """Return the sections of a file; raises EvaluationError that names the line at fault."""
    return tuple(read_json_lines(path, TaggedSection, "Each line is a section of CORWA."))


def split_sections(
    sections: Sequence[TaggedSection],
) -> tuple[tuple[TaggedSection, ...], tuple[TaggedSection, ...]]:
    """Return the sections to train on and those that are held out."""
    return (
        tuple(section for section in sections if not section.is_held_out),
        tuple(section for section in sections if section.is_held_out),
    )


def citing_by_labels(section: TaggedSection) -> TaggedSection:
    """Return a section in the style of our summaries: works have labels, and each sentence on one has it.

    A sentence that continues a summary, which papers leave without a citation, repeats the label.
    """
    numbers: dict[str, int] = {}
    paragraphs = []
    for paragraph in section.paragraphs:
        sentences, label = [], ""
        for sentence, tag in zip(paragraph.sentences, paragraph.tags, strict=True):
            written = with_labels(sentence, numbers)
            found = _LABEL.findall(written)
            if tag != "Single_summ":
                label = ""
            elif found:
                label = found[0]
            elif label:
                written = f"{written.rstrip().removesuffix('.').rstrip()} {label}."
            sentences.append(written)
        paragraphs.append(paragraph.model_copy(update={"sentences": tuple(sentences)}))
    return section.model_copy(update={"paragraphs": tuple(paragraphs)})


@dataclass(frozen=True, slots=True)
class PlacedSentence:
    """A sentence with its tokens, its place in its paragraph, and its paragraph's in the text.

    `works` counts the works it cites that the sentence before does not, `works_before` those of that one;
    None of a paragraph's first.
    """

    citing: CitingSentence
    tokens: tuple[str, ...]
    place: int
    length: int
    paragraph: int
    paragraphs: int
    works_before: int | None

    @property
    def works(self) -> int:
        return len(self.citing.fresh)

    @property
    def cites(self) -> tuple[int, ...]:
        """The places of citations among the tokens."""
        return tuple(index for index, token in enumerate(self.tokens) if token == CITE)

    @property
    def where(self) -> tuple[bool, bool, bool]:
        """Whether citations stand near the beginning, at the end, and between."""
        cites, last = self.cites, len(self.tokens) - 1
        return (
            bool(cites) and cites[0] < 5,
            bool(cites) and cites[-1] >= last - 1,
            any(4 < place < last - 1 for place in cites),
        )


def place_sentences(paragraphs: Paragraphs) -> tuple[PlacedSentence, ...]:
    """Return all sentences of a text, one after the other."""
    placed: list[PlacedSentence] = []
    for number, paragraph in enumerate(paragraphs):
        for place, sentence in enumerate(paragraph):
            last = placed[-1] if place else None
            before = last.citing.cited if last else frozenset[str]()
            citing = neutral(_PROPOSED.sub("our work", sentence), before)
            tokens = tuple(
                word if word == CITE else "0" if word[0].isdigit() else word.lower()
                for word in _WORD.findall(citing.text)
            )
            works = last.works if last else None
            placed.append(
                PlacedSentence(citing, tokens, place, len(paragraph), number, len(paragraphs), works)
            )
    return tuple(placed)


def feature_rows(sentences: Sequence[PlacedSentence], vectors: Matrix) -> csr_matrix:
    """Return a row for each sentence: its signs and its neighbours', its hashed words, its vector."""
    signs = np.array([_signs(one) for one in sentences], dtype=np.float64)
    before, after = np.zeros_like(signs), np.zeros_like(signs)
    for index, one in enumerate(sentences):
        if one.place > 0:
            before[index] = signs[index - 1]
        if one.place < one.length - 1:
            after[index] = signs[index + 1]
    held = [sorted({zlib.crc32(gram.encode()) % BUCKETS for gram in _grams(one)}) for one in sentences]
    ends = np.cumsum([0, *(len(buckets) for buckets in held)])
    numbers = [WORDS_WEIGHT / len(buckets) ** 0.5 for buckets in held for _ in buckets]
    columns = [bucket for buckets in held for bucket in buckets]
    words = csr_matrix((numbers, columns, ends), shape=(len(sentences), BUCKETS))
    return hstack([signs, before, after, words, MEANING_WEIGHT * vectors], format="csr")


def _signs(one: PlacedSentence) -> list[float]:
    works, cites, tokens, text = one.works, one.cites, one.tokens, one.citing.text
    first = tokens[0] if tokens else ""
    return [
        *(float(works == count) for count in range(3)),
        float(works > 2),
        min(works, 8) / 4,
        float(not cites),
        float(len(cites) == 1),
        float(len(cites) > 1),
        min(len(cites), 6) / 3,
        float(cites[:1] == (0,)),
        *map(float, one.where),
        float(bool(_FIRST_PERSON.intersection(tokens))),
        float(first in _FIRST_PERSON),
        float(bool(_FIRST_PERSON.intersection(tokens[:4]))),
        float(first in ("they", "their")),
        float(first in ("it", "its", "this", "these", "the")),
        float(any(left == "this" and right in _HERE for left, right in pairwise(tokens))),
        float(np.log1p(max(1, len(tokens)))) - 3,
        float(len(tokens) < 6),
        float(len(tokens) > 45),
        float(text[:1].islower()),
        float(not text.endswith((".", "?", "!"))),
        float(one.place == 0),
        float(one.place == 1),
        float(one.place == one.length - 1),
        float(one.length == 1),
        one.place / one.length,
        min(one.length, 15) / 10,
        float(one.paragraph == 0),
        float(one.paragraph == one.paragraphs - 1),
        (one.paragraph + 1) / one.paragraphs,
        float(one.paragraphs == 1),
    ]


def _grams(one: PlacedSentence) -> list[str]:
    """Return words and pairs of words, and words with the numbers of works cited here and just before."""
    tokens = one.tokens
    works, cites = min(one.works, 3), min(len(one.cites), 3)
    before = "none" if one.works_before is None else str(min(one.works_before, 2))
    own = bool(_FIRST_PERSON.intersection(tokens))
    where = "".join(str(int(found)) for found in one.where)
    return [
        *tokens,
        *(f"{left} {right}" for left, right in pairwise(tokens)),
        *(f"^{token}" for token in tokens[:1]),
        f"^^{' '.join(tokens[:2])}",
        *(f"{min(works, 2)} works {token}" for token in tokens),
        *(f"after {before} {token}" for token in tokens[:OPENING]),
        f"{works} works {cites} places",
        f"{works} works {where}",
        f"{works} works {where} {own} {cites}",
        f"{works} works {own}",
        f"after {before} {works} works {where} {own}",
    ]


@dataclass(frozen=True, slots=True)
class Chain:
    """The weights: features x tags, bias, from tag to tag, and of a paragraph's first and last tags."""

    weights: Matrix
    bias: Matrix
    steps: Matrix
    first: Matrix
    last: Matrix

    def likelihoods(self, rows: csr_matrix, lengths: Sequence[int]) -> Matrix:
        """Return the likelihood of each tag of each sentence; `lengths` are the paragraphs' in sentences."""
        return _expected(self, rows @ self.weights + self.bias, _layout(lengths))[0]


# Numbers of sentences, paragraphs side by side (paragraphs, longest), which are filled, and last places.
_Layout = tuple[Numbers, NDArray[np.bool_], Numbers]


def _layout(lengths: Sequence[int]) -> _Layout:
    counts = np.array([length for length in lengths if length], dtype=np.int64)
    places = np.arange(counts.max(initial=1))
    filled = places[None, :] < counts[:, None]
    numbers = np.where(filled, (np.cumsum(counts) - counts)[:, None] + places[None, :], 0)
    return numbers, filled, counts - 1


def _expected(chain: Chain, scores: Matrix, layout: _Layout) -> tuple[Matrix, Matrix, float]:
    """Return the likelihoods of tags, the expected counts of steps, and the sum of log partitions."""
    numbers, filled, ends = layout
    padded = np.where(filled[..., None], scores[numbers], 0.0)
    forward, backward = np.zeros_like(padded), np.zeros_like(padded)
    length = filled.shape[1]
    forward[:, 0] = padded[:, 0] + chain.first
    for place in range(1, length):
        sums = logsumexp(forward[:, place - 1, :, None] + chain.steps, axis=1) + padded[:, place]
        forward[:, place] = np.where(filled[:, place, None], sums, forward[:, place - 1])
    backward[:, -1] = chain.last
    for place in range(length - 2, -1, -1):
        ahead = padded[:, place + 1] + backward[:, place + 1]
        sums = logsumexp(chain.steps[None] + ahead[:, None, :], axis=2)
        backward[:, place] = np.where(filled[:, place + 1, None], sums, chain.last)
    totals = logsumexp(forward[np.arange(len(ends)), ends] + chain.last, axis=1)
    likelihoods = np.zeros_like(scores)
    likelihoods[numbers[filled]] = np.exp(forward + backward - totals[:, None, None])[filled]
    ahead = (padded + backward)[:, 1:]
    steps = forward[:, :-1, :, None] + chain.steps + ahead[:, :, None, :] - totals[:, None, None, None]
    return likelihoods, np.exp(steps)[filled[:, 1:]].sum(axis=0), float(totals.sum())


def fit_chain(rows: csr_matrix, tags: Numbers, lengths: Sequence[int], count: int, shrink: float) -> Chain:
    """Fit a chain to sentences and the numbers of their tags, of which there are `count`."""
    layout, turned = _layout(lengths), rows.T.tocsr()
    numbers, filled, ends = layout

    def packed(chain: Chain) -> Matrix:
        parts = (chain.bias, chain.first, chain.last, chain.steps, chain.weights)
        return np.concatenate([part.ravel() for part in parts])

    def unpacked(point: Matrix) -> Chain:
        bias, first, last, rest = np.split(point, [count, 2 * count, 3 * count])
        steps, weights = np.split(rest, [count * count])
        return Chain(weights.reshape(-1, count), bias, steps.reshape(count, count), first, last)

    def counts(likelihoods: Matrix, steps: Matrix) -> Matrix:
        first = likelihoods[numbers[:, 0]].sum(axis=0)
        last = likelihoods[numbers[np.arange(len(ends)), ends]].sum(axis=0)
        return packed(Chain(turned @ likelihoods, likelihoods.sum(axis=0), steps, first, last))

    steps, follow = np.zeros((count, count)), filled[:, 1:]
    np.add.at(steps, (tags[numbers[:, :-1][follow]], tags[numbers[:, 1:][follow]]), 1)
    observed = counts(np.eye(count)[tags], steps)
    few = np.full(count, SHRINK_STEPS)
    penalties = packed(
        Chain(
            np.full((rows.shape[1], count), shrink),
            np.zeros(count),
            np.full((count, count), SHRINK_STEPS),
            few,
            few,
        )
    )

    def loss(point: Matrix) -> tuple[float, Matrix]:
        chain = unpacked(point)
        likelihoods, expected_steps, total = _expected(chain, rows @ chain.weights + chain.bias, layout)
        value = total - point @ observed + 0.5 * penalties @ point**2
        slope = counts(likelihoods, expected_steps) - observed + penalties * point
        return float(value) / len(tags), slope / len(tags)

    start, options = np.zeros_like(observed), {"maxiter": ITERATIONS}
    found = minimize(loss, start, jac=True, method="L-BFGS-B", options=options)
    return unpacked(np.asarray(found.x))


class TagWeights(BaseModel, frozen=True, extra="forbid"):
    """The weights as they are kept: small arrays as numbers, the features' as 16-bit numbers in base64."""

    name: str
    tags: tuple[Tag, ...]
    features: int
    weights: str
    bias: tuple[float, ...]
    steps: tuple[tuple[float, ...], ...]
    first: tuple[float, ...]
    last: tuple[float, ...]
    provenance: Provenance

    @classmethod
    def of(cls, name: str, chain: Chain, provenance: Provenance) -> "TagWeights":
        def rounded(numbers: Matrix) -> tuple[float, ...]:
            return tuple(round(float(number), 4) for number in numbers)

        return cls(
            name=name,
            tags=TAGS,
            features=len(chain.weights),
            weights=base64.b64encode(chain.weights.astype("<f2").tobytes()).decode(),
            bias=rounded(chain.bias),
            steps=tuple(map(rounded, chain.steps)),
            first=rounded(chain.first),
            last=rounded(chain.last),
            provenance=provenance,
        )

    def chain(self) -> Chain:
        numbers = np.frombuffer(base64.b64decode(self.weights), dtype="<f2").astype(np.float64)
        small = map(np.array, (self.bias, self.steps, self.first, self.last))
        return Chain(numbers.reshape(self.features, len(self.tags)), *small)


@cache
def tag_weights(file: Path = TAG_WEIGHTS) -> TagWeights:
    """Return the shipped weights; raises EvaluationError where they cannot be read."""
    try:
        return TagWeights.model_validate_json(file.read_text(encoding="utf-8"))
    except (OSError, ValidationError) as error:
        raise EvaluationError(
            f"The weights {file} cannot be read. Train them: paper-trail eval train-tags"
        ) from error


@dataclass(frozen=True, slots=True)
class TaggedSentence:
    """A sentence with its likeliest tag, and how many works it cites."""

    text: str
    tag: Tag
    works: int

    @property
    def compares_by_tag(self) -> bool:
        return self.tag in COMPARATIVE

    @property
    def compares_by_count(self) -> bool:
        return self.works >= WORKS_COMPARED


class SentenceTagger:
    """Tags the sentences of a text."""

    def __init__(self, chain: Chain, encoder: Encoder) -> None:
        self._chain = chain
        self._encoder = encoder

    def tag(self, paragraphs: Paragraphs) -> tuple[TaggedSentence, ...]:
        """Return all sentences of a text with their tags, paragraph by paragraph."""
        if not any(paragraphs):
            return ()
        placed = place_text([paragraphs], self._encoder)
        sentences = [sentence for paragraph in paragraphs for sentence in paragraph]
        return tuple(
            TaggedSentence(sentence, TAGS[int(best)], len(one.citing.cited))
            for sentence, best, one in zip(
                sentences, placed.tagged(self._chain), placed.sentences, strict=True
            )
        )


@dataclass(frozen=True, slots=True)
class PlacedText:
    """The sentences of texts as features, and the lengths of their paragraphs."""

    sentences: tuple[PlacedSentence, ...]
    rows: csr_matrix
    lengths: tuple[int, ...]

    def tagged(self, chain: Chain) -> Numbers:
        return np.asarray(chain.likelihoods(self.rows, self.lengths).argmax(axis=1), dtype=np.int64)


def place_text(texts: Sequence[Paragraphs], encoder: Encoder) -> PlacedText:
    placed = tuple(one for text in texts for one in place_sentences(text))
    vectors = encoder.encode_passages([one.citing.text for one in placed]).astype(np.float64)
    lengths = tuple(len(paragraph) for text in texts for paragraph in text)
    return PlacedText(placed, feature_rows(placed, vectors), lengths)


def train_tags(sections: Sequence[TaggedSection], encoder: Encoder) -> TagWeights:
    """Train on the papers that are not held out; the provenance has the quality on those that are.

    "majority" is always the commonest tag. Shares of sentences that compare are by people's tags, but for
    "held_out_sections_tagged", which are by the chain's.
    """
    train, held_out = split_sections(sections)
    known, known_tags = place_text([one.text for one in train], encoder), _numbers(train)
    held, gold = place_text([one.text for one in held_out], encoder), _numbers(held_out)
    labelled = place_text([citing_by_labels(one).text for one in held_out], encoder)
    fitted = fit_chain(known.rows, known_tags, known.lengths, len(TAGS), SHRINK)
    # Measured as it is kept: in 16 bits.
    weights = TagWeights.of(NAME, fitted, {})
    chain = weights.chain()
    found = held.tagged(chain)
    majority = np.full_like(gold, np.bincount(known_tags).argmax())
    every = np.concatenate([known_tags, gold])
    each = f1_score(gold, found, labels=range(len(TAGS)), average=None, zero_division=0.0)
    provenance: Provenance = {
        "trained_on": "CORWA, its training part without the papers held back",
        "papers": len(train),
        "sentences": len(known_tags),
        "encoder": f"{encoder.name}, {encoder.runtime}",
        "trained": datetime.now(UTC).date().isoformat(),
        "shrink": SHRINK,
        "held_out": {
            "papers": float(len(held_out)),
            "sentences": float(len(gold)),
            **_quality(gold, found),
            **{f"majority_{name}": figure for name, figure in _quality(gold, majority).items()},
        },
        "held_out_f1": dict(zip(TAGS, map(_figure, each), strict=True)),
        "held_out_citing_by_labels": _quality(gold, labelled.tagged(chain)),
        "real_sections": _comparative(every, (*known.sentences, *held.sentences)),
        "held_out_sections": _comparative(gold, held.sentences),
        "held_out_sections_tagged": _comparative(found, held.sentences),
        "real_tags": {tag: _figure(np.mean(every == number)) for number, tag in enumerate(TAGS)},
    }
    return weights.model_copy(update={"provenance": provenance})


def _numbers(sections: Sequence[TaggedSection]) -> Numbers:
    return np.array([TAGS.index(tag) for section in sections for tag in section.tags], dtype=np.int64)


def _quality(gold: Numbers, found: Numbers) -> dict[str, float]:
    macro = f1_score(gold, found, labels=range(len(TAGS)), average="macro", zero_division=0.0)
    return {"accuracy": _figure(accuracy_score(gold, found)), "macro_f1": _figure(macro)}


def _comparative(tags: Iterable[int], sentences: Sequence[PlacedSentence]) -> dict[str, float]:
    """Return the shares of sentences that compare by these tags, by counting what is cited, and by either."""
    by_tag = np.array([TAGS[tag] in COMPARATIVE for tag in tags])
    by_count = np.array([len(one.citing.cited) >= WORKS_COMPARED for one in sentences])
    return {
        "comparative_by_tag": _figure(by_tag.mean()),
        "comparative_by_count": _figure(by_count.mean()),
        "comparative": _figure((by_tag | by_count).mean()),
    }


def _figure(number: float) -> float:
    return round(float(number), 4)


def figures_of(classifier: Provenance, name: str) -> dict[str, float]:
    found = classifier.get(name)
    return {key: float(number) for key, number in found.items()} if isinstance(found, dict) else {}


def tags_table(classifier: Provenance, systems: dict[str, dict[Tag, float]] | None = None) -> Table:
    """Return the shares of tags beside people's tags of real sections, and the classifier's quality."""
    systems = systems or {}
    held, labelled = (figures_of(classifier, name) for name in ("held_out", "held_out_citing_by_labels"))
    title = "Tags of sentences"
    if held and labelled:
        title += (
            f": on {held['sentences']:,.0f} sentences of {held['papers']:.0f} papers held back"
            f" macro-F1 {held['macro_f1']:.4f}, accuracy {held['accuracy']:.4f}"
            f" (always the commonest: {held['majority_macro_f1']:.4f}, {held['majority_accuracy']:.4f});"
            f" made to cite as we do {labelled['macro_f1']:.4f}, {labelled['accuracy']:.4f}"
        )
    real, each = figures_of(classifier, "real_tags"), figures_of(classifier, "held_out_f1")
    rows = [
        (
            tag,
            *(decimals(own[tag]) for own in systems.values()),
            decimals(real.get(tag)),
            decimals(each.get(tag)),
        )
        for tag in TAGS
    ]
    return table(("Tag", *systems, "Real sections", "F1 on papers held back"), rows, title=title)


@command("train-tags")
def train_tags_command(corwa: Path, out_file: Path = TAG_WEIGHTS) -> Report:
    sections = read_sections(corwa)
    if any(len({tag for one in part for tag in one.tags}) < 2 for part in split_sections(sections)):
        raise EvaluationError(
            f"{corwa} holds too few sections: sentences of two tags at least are needed to train on,"
            " and as many to hold back."
        )
    weights = train_tags(sections, SentenceEncoder())
    out_file.write_text(weights.model_dump_json(indent=2) + "\n", encoding="utf-8")
    return Report(weights.provenance, [tags_table(weights.provenance)])
