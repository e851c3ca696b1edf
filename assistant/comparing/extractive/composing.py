"""A comparative summary composed of papers' own sentences, grouped, in order of years, all cited."""

from collections.abc import Callable, Iterable, Iterator, Sequence

import numpy as np

from assistant.checking.scorer import SupportScorer
from assistant.checking.support import about
from assistant.checking.thresholds import thresholds
from assistant.comparing.differences import NamedThings
from assistant.comparing.extractive.profiles import PaperProfile
from assistant.comparing.records import ELEMENT_NAMES
from assistant.reading.telling import short_title, subject_of
from assistant.records import ElementName
from corpus.encoders.base import Encoder, Vectors
from corpus.encoders.scale import cosine_scales
from corpus.wording import capitalised, short_authors

# The cosine of near duplicates.
ALIKE = 0.86
# Scores vary a little with the batch that is encoded together; this margin absorbs that.
MARGIN = 0.02
# Papers nearest to the description whose limitations are named.
MOST_LIMITS = 3
# The largest share of papers that a distinguishing thing may have.
LARGEST_SHARE = 0.6
# Groups are joined while their mean cosine exceeds that of all pairs by this many standard deviations, and
# is at least FAINTLY_ALIKE.
ABOVE_MEAN = 0.25
FAINTLY_ALIKE = 0.35
# The largest group, for readable paragraphs: papers, or their share of all if that is more.
LARGEST_GROUP, LARGEST_GROUP_SHARE = 5, 0.2

# The approach comes before the results, and results stand in for a missing approach.
_DOES: tuple[ElementName, ...] = ("contributions", "methodology", "innovations")
_CAME_OF_IT: tuple[ElementName, ...] = ("results", "conclusions")
_ASKS: tuple[ElementName, ...] = ("research_questions",)
_LIMITS: tuple[ElementName, ...] = ("limitations",)

Group = tuple[PaperProfile, ...]


def compose(papers: Sequence[PaperProfile], about: str, encoder: Encoder) -> str:
    """Return the summary of papers, a paragraph for each group.

    A paragraph begins with what its papers share, then has the approach and results of each, and limitations
    of those nearest to the description.
    """
    groups, near = group_papers(papers, about, encoder)
    writing = _Writing(papers, encoder)
    limited = {paper.label for paper in [paper for paper in near if paper.stated(_LIMITS)][:MOST_LIMITS]}
    shared = NamedThings(
        {paper.label: (((paper.title, *paper.stated(ELEMENT_NAMES))), paper.paper) for paper in papers}, about
    )
    paragraphs = []
    for group in groups:
        account = [*_shared(group, shared, writing)]
        for paper in group:
            account += _account(paper, writing, with_limits=paper.label in limited)
        paragraphs.append(" ".join(account))
    return "\n\n".join(paragraphs)


class _Writing:
    """The summary written so far, and the checks of further sentences."""

    def __init__(self, papers: Sequence[PaperProfile], encoder: Encoder) -> None:
        self.papers = papers
        self.terms: set[str] = set()
        self._encoder, self._scale = encoder, cosine_scales(encoder).alike
        self._support = SupportScorer(encoder).reader()
        self._encoded: dict[str, Vectors] = {}
        self._written: list[Vectors] = []

    def take(self, texts: Iterable[str], paper: PaperProfile) -> str:
        """Return the first text that its paper supports and that is new, with its citation, "" for none."""
        for text in texts:
            meant = self._encode(text)
            is_new = all(self._scale(float(meant @ other)) < ALIKE for other in self._written)
            if is_new and self.is_supported(text, paper):
                self._written.append(meant)
                return f"{_without_stop(text)} [{paper.label}]."
        return ""

    def similarity(self, text: str) -> Callable[[str], float]:
        """Return a function that scores the similarity of another text to `text`."""
        meant = self._encode(text)
        return lambda other: round(float(meant @ self._encode(other)), 6)

    def _encode(self, text: str) -> Vectors:
        if text not in self._encoded:
            self._encoded[text] = self._encoder.encode_passages([text])[0]
        return self._encoded[text]

    def is_supported(self, claim: str, paper: PaperProfile) -> bool:
        """Return True if a paper supports a claim with a margin."""
        (support,) = self._support.weigh([claim], [paper.places], [about(paper.paper)])
        return support.score >= thresholds().support.supported + MARGIN


def _account(paper: PaperProfile, writing: _Writing, *, with_limits: bool) -> Iterator[str]:
    """Yield sentences on a paper's approach, its results and, on request, its limitations."""
    does = writing.take(_clearest_first(paper, writing), paper)
    results = writing.take(paper.stated(_CAME_OF_IT), paper)
    asks = "" if does else writing.take((*paper.stated(_ASKS), *paper.spare), paper)
    limits = writing.take(paper.stated(_LIMITS), paper) if with_limits else ""
    account = [text for text in (does or asks, results, limits) if text]
    # Whose they are is said by the first of them.
    yield from account or [f"Of “{_without_stop(paper.title)}” only the title is told here [{paper.label}]."]


def _clearest_first(paper: PaperProfile, writing: _Writing) -> list[str]:
    """Return sentences on the approach, those that name authors or title first."""
    subject, title = subject_of(paper.paper.authors), f"“{short_title(paper.title)}”"
    near = writing.similarity(paper.title)
    texts = sorted(
        paper.stated(_DOES), key=lambda text: (subject not in text and title not in text, -near(text))
    )
    # Without the title, whose words may lower the support of a sentence.
    authors = f"A paper by {short_authors(paper.paper.authors)}" if paper.paper.authors else title
    return [form for text in texts for form in dict.fromkeys((text, text.replace(title, authors, 1)))]


def _shared(group: Group, shared: NamedThings, writing: _Writing) -> Iterator[str]:
    """Yield a sentence on a thing that papers of a group and perhaps others share, citing those."""
    within = {paper.label for paper in group}
    if len(within) < 2:
        return
    for thing in shared.common(within):
        is_of_most = len(thing.labels) > LARGEST_SHARE * len(writing.papers)
        # "Entailment model is studied" lacks an article: unknown terms must not need one.
        is_nameable = thing.kind != "term" or thing.text.endswith(("s", "ing", "ion", "ity"))
        if is_of_most or not is_nameable or thing.described or thing.text.lower() in writing.terms:
            continue
        verb = "studied" if thing.kind in ("task", "term") else "used"
        claim = f"{capitalised(thing.text)} {'are' if _is_plural(thing.text) else 'is'} {verb} in"
        holders = [paper for paper in writing.papers if paper.label in thing.labels]
        labels = [paper.label for paper in holders if writing.is_supported(f"{claim}.", paper)]
        if len(within.intersection(labels)) > 1:
            writing.terms.add(thing.text.lower())
            yield f"{claim} {''.join(f'[{label}]' for label in labels)}."
            return


def _is_plural(term: str) -> bool:
    """Return True if a term looks like a plural: "graphs", not "analysis" or "bias"."""
    return term.endswith("s") and not term.endswith(("ss", "is", "us", "ics", "ias"))


def _without_stop(text: str) -> str:
    return text.rstrip().rstrip(".!").rstrip()


def group_papers(papers: Sequence[PaperProfile], about: str, encoder: Encoder) -> tuple[list[Group], Group]:
    """Return the papers in groups, the one nearest to the description last, and all papers by nearness.

    Within a group the oldest comes first. Papers that join no other form the first group.
    """
    texts = [text for paper in papers for text in (paper.title, paper.opening)]
    vectors = encoder.encode_passages([*texts, about])
    cosines = cosine_scales(encoder).alike(vectors @ vectors.T)
    # The cosines of papers, each the sum of its two text vectors, from scaled pairwise cosines.
    alike = cosines[:-1, :-1].reshape(len(papers), 2, len(papers), 2).sum(axis=(1, 3))
    lengths = np.sqrt(np.maximum(np.diagonal(alike), 1e-9))
    nearness = cosines[:-1, -1].reshape(len(papers), 2).sum(axis=1) / lengths
    parts = _merged(alike / np.outer(lengths, lengths))
    parts.sort(key=lambda part: (round(float(nearness[part].mean()), 6), -part[0]))
    joined = [
        tuple(
            sorted(
                [papers[index] for index in part],
                key=lambda member: (member.paper.year is None, member.paper.year or 0, member.label),
            )
        )
        for part in parts
        if len(part) > 1
    ]
    alone = tuple(papers[index] for part in parts for index in part if len(part) == 1)
    near = tuple(papers[index] for index in np.argsort(-nearness, kind="stable"))
    return ([alone] if alone else []) + joined, near


def _merged(alike: Vectors) -> list[list[int]]:
    """Join the two groups with the highest mean cosine until none is high enough or all are large."""
    pairs = alike[np.triu_indices(len(alike), 1)]
    enough = max(FAINTLY_ALIKE, float(pairs.mean() + ABOVE_MEAN * pairs.std())) if len(pairs) > 1 else 0.5
    largest = max(LARGEST_GROUP, int(LARGEST_GROUP_SHARE * len(alike)))
    parts = [[index] for index in range(len(alike))]
    while len(parts) > 1:
        offers = [
            (float(alike[np.ix_(group, other)].mean()), -first, -second)
            for first, group in enumerate(parts)
            for second, other in enumerate(parts[:first])
            if len(group) + len(other) <= largest
        ]
        if not offers or max(offers)[0] < enough:
            break
        _, first, second = max(offers)
        parts[-second] = sorted(parts[-second] + parts.pop(-first))
    return parts
