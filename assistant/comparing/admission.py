"""Which comparisons are taken: what is wrong with the others is said before anything is read."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from assistant.comparing.records import Ablation, ComparisonError, ComparisonOptions, ComparisonRequest
from corpus.records import Paper
from corpus.store import Corpus
from corpus.text import storable, words

FEWEST_PAPERS, MOST_PAPERS = 2, 30
LONGEST_DESCRIPTION = 20_000
# The most of each, n_s, n_v and n_c of Algorithm 1; the least is one.
MOST_SAMPLES, MOST_VOTES, MOST_KEPT = 5, 9, 5
_NAMES = {
    "samples": ("samples", MOST_SAMPLES),
    "votes": ("votes", MOST_VOTES),
    "keep": ("summaries to keep", MOST_KEPT),
}


@dataclass(frozen=True, slots=True)
class Admitted:
    """A request that can be taken, its papers in the given order, and what to know of how it was read."""

    request: ComparisonRequest
    papers: tuple[Paper, ...]
    remarks: tuple[str, ...]


def admit_comparison(request: ComparisonRequest, corpus: Corpus) -> Admitted:
    """Return the request ready to be taken up; raises ComparisonError when it cannot be."""
    about = " ".join(storable(request.about).split())
    _check_description(about)
    _check_options(request.options)
    wanted = tuple(dict.fromkeys(request.papers))
    found = corpus.papers_by_id(wanted)
    _check_papers(wanted, found)
    twice = [paper.title for paper in found if request.papers.count(paper.id) > 1]
    remarks = tuple(f"“{title}” was named more than once; it is compared once." for title in twice)
    without = tuple(dict.fromkeys(request.options.without))
    options = replace(request.options, without=without)
    return Admitted(replace(request, about=about, papers=wanted, options=options), found, remarks)


def _check_description(about: str) -> None:
    if not words(about):
        raise ComparisonError(
            "The description is empty. Say in a few words or sentences what the papers are compared for: "
            "your topic, your question or your abstract."
        )
    if len(about) > LONGEST_DESCRIPTION:
        raise ComparisonError(
            f"The description has {len(about):,} characters; {LONGEST_DESCRIPTION:,} can be taken. Shorten "
            "it, for example to an abstract."
        )


def _check_options(options: ComparisonOptions) -> None:
    for field, (name, most) in _NAMES.items():
        value = getattr(options, field)
        if not 1 <= value <= most:
            raise ComparisonError(f"The number of {name} must be from 1 to {most}, not {value}.")


def _check_papers(wanted: Sequence[str], found: Sequence[Paper]) -> None:
    held = {paper.id for paper in found}
    if missing := [identifier for identifier in wanted if identifier not in held]:
        raise ComparisonError(f"The corpus has no paper {missing[0]!r}.")
    if len(wanted) < FEWEST_PAPERS:
        named = "No paper was" if not wanted else "Only one paper was"
        raise ComparisonError(f"{named} named; a comparison needs at least {FEWEST_PAPERS}.")
    if len(wanted) > MOST_PAPERS:
        raise ComparisonError(
            f"{len(wanted)} papers were named; at most {MOST_PAPERS} can be compared at once. Choose those "
            "that matter most, or compare them in parts."
        )


def effective(options: ComparisonOptions) -> ComparisonOptions:
    """Return the options as an ablation leaves them: without reflection one sample is written and kept."""
    return replace(options, samples=1, votes=0, keep=1) if leaves_out(options, "reflection") else options


def leaves_out(options: ComparisonOptions, part: Ablation) -> bool:
    return part in options.without
