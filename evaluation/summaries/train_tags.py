"""Trains the classifier of sentences on CORWA, and measures it on the papers held back."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
from scipy.sparse import csr_matrix
from sklearn.metrics import accuracy_score, f1_score

from corpus.encoders import Encoder
from evaluation.summaries.chain import Chain, Numbers, fit_chain
from evaluation.summaries.corwa import TAGS, TaggedSection, citing_by_labels, held_out, trained_on
from evaluation.summaries.sentence_tags import COMPARATIVE, WORKS_COMPARED, Provenance, TagWeights
from evaluation.summaries.tag_features import PlacedSentence, feature_rows, place_sentences

NAME = "sentence-tags-1"
SHRINK = 8.0
_ALL_TAGS = range(len(TAGS))


@dataclass(frozen=True, slots=True)
class Placed:
    """Sections as features, with the numbers of the tags that people gave."""

    papers: int
    sentences: tuple[PlacedSentence, ...]
    rows: csr_matrix
    tags: Numbers
    lengths: tuple[int, ...]


def train_tags(sections: Sequence[TaggedSection], encoder: Encoder) -> TagWeights:
    """Train on the papers that are not held back; the provenance says how well it does on those that are."""
    known = place_sections(trained_on(sections), encoder)
    chain = fit_chain(known.rows, known.tags, known.lengths, len(TAGS), SHRINK)
    provenance: Provenance = {
        "trained_on": "CORWA, its training part without the papers held back",
        "papers": known.papers,
        "sentences": len(known.tags),
        "encoder": f"{encoder.name}, {encoder.runtime}",
        "trained": datetime.now(UTC).date().isoformat(),
        "shrink": SHRINK,
    }
    weights = TagWeights.of(NAME, chain, provenance)
    # Measured as it is kept: in 16 bits.
    measured = measure_tags(weights.chain(), sections, known, encoder)
    return weights.model_copy(update={"provenance": provenance | measured})


def measure_tags(
    chain: Chain, sections: Sequence[TaggedSection], known: Placed, encoder: Encoder
) -> Provenance:
    """Return how well sentences held back are tagged, 0..1, and what the sentences of real sections do.

    `majority` always says the tag that is commonest in what is `known`. Shares of sentences that compare are
    by people's tags, but for `held_out_sections_tagged`, which are by the chain's.
    """
    held = place_sections(held_out(sections), encoder)
    labelled = place_sections([citing_by_labels(section) for section in held_out(sections)], encoder)
    found = _tagged(chain, held)
    guess = np.full_like(held.tags, np.bincount(known.tags).argmax())
    every = np.concatenate([known.tags, held.tags])
    return {
        "held_out": {
            "papers": float(held.papers),
            "sentences": float(len(held.tags)),
            **_quality(held.tags, found),
            **{f"majority_{name}": figure for name, figure in _quality(held.tags, guess).items()},
        },
        "held_out_f1": dict(zip(TAGS, _each_f1(held.tags, found), strict=True)),
        "held_out_citing_by_labels": _quality(labelled.tags, _tagged(chain, labelled)),
        "real_sections": _comparative(every, (*known.sentences, *held.sentences)),
        "held_out_sections": _comparative(held.tags, held.sentences),
        "held_out_sections_tagged": _comparative(found, held.sentences),
        "real_tags": {tag: _figure(np.mean(every == number)) for number, tag in enumerate(TAGS)},
    }


def place_sections(sections: Sequence[TaggedSection], encoder: Encoder) -> Placed:
    placed = tuple(one for section in sections for one in place_sentences(section.text))
    vectors = encoder.encode_passages([one.citing.text for one in placed]).astype(np.float64)
    return Placed(
        papers=len(sections),
        sentences=placed,
        rows=feature_rows(placed, vectors),
        tags=np.array([TAGS.index(tag) for section in sections for tag in section.tags], dtype=np.int64),
        lengths=tuple(len(paragraph) for section in sections for paragraph in section.text),
    )


def write_tag_weights(weights: TagWeights, file: Path) -> None:
    file.write_text(weights.model_dump_json(indent=2) + "\n", encoding="utf-8")


def _tagged(chain: Chain, placed: Placed) -> Numbers:
    likely = chain.likelihoods(placed.rows, placed.lengths)
    return np.asarray(likely.argmax(axis=1), dtype=np.int64)


def _quality(gold: Numbers, found: Numbers) -> dict[str, float]:
    return {
        "accuracy": _figure(accuracy_score(gold, found)),
        "macro_f1": _figure(f1_score(gold, found, labels=_ALL_TAGS, average="macro", zero_division=0.0)),
    }


def _each_f1(gold: Numbers, found: Numbers) -> list[float]:
    return [_figure(one) for one in f1_score(gold, found, labels=_ALL_TAGS, average=None, zero_division=0.0)]


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
