"""Papers and earlier turns as they stand in prompts, trimmed to what a model takes in."""

import re
from collections.abc import Sequence
from dataclasses import replace

from assistant.prompts.render import as_data, as_line, mark
from assistant.records import Evidence, LabelledPaper, Turn
from corpus.records import Passage
from corpus.sentences import without_repeats

TURNS_SHOWN = 4
QUESTION_WORDS = 60
ANSWER_WORDS = 120
TITLE_WORDS = 10
AUTHORS_SHOWN = 6
# English has about four bytes to a token, other scripts three or a little less.
BYTES_PER_TOKEN = 3
# Tokens of the context kept free beside prompt and reply, for errors of the estimate.
SPARE_TOKENS = 200

# The words that introduce an earlier turn.
ASKED, ANSWERED = "The reader asked:", "The answer was:"
# Refusals that are about the writer's text, not about the papers.
_OF_THE_WRITER = frozenset({"nothing_written", "not_carried"})
_LABEL = re.compile(r"(?:(?<!\s)\s++)?\[(\d+)\]")


def shown_turns(history: tuple[Turn, ...]) -> tuple[int, ...]:
    """Return the indices of the turns that `render_history` shows."""
    return tuple(range(max(0, len(history) - TURNS_SHOWN), len(history)))


def render_history(history: tuple[Turn, ...]) -> str:
    """Return the last turns as a block that ends in an empty line, oldest first; "" without any."""
    if not history:
        return ""
    shown = (history[index] for index in shown_turns(history))
    turns = (_render_turn(number, turn) for number, turn in enumerate(shown, start=1))
    return "".join(f"{block}\n\n" for block in ("Earlier turns, oldest first:", *turns))


def _render_turn(number: int, turn: Turn) -> str:
    refusal = turn.answer.refusal
    if refusal is None:
        answer = _name_cited(turn.answer.text, turn.evidence)
    else:
        # A model would copy an unusable reply.
        answer = "(none)" if refusal.reason in _OF_THE_WRITER else refusal.message
    return "\n".join(
        (
            mark(f"turn {number}"),
            f"{ASKED} {_first_words(as_line(turn.question), QUESTION_WORDS)}",
            f"{ANSWERED} {_first_words(as_line(answer), ANSWER_WORDS)}",
            mark(f"end of turn {number}"),
        )
    )


def _name_cited(answer: str, evidence: Evidence) -> str:
    """Return an earlier answer with titles beside its labels, since labels now stand for other papers."""

    def named(label: re.Match[str]) -> str:
        cited = evidence.paper(int(label[1]))
        return f" 〔{label[1]}: {_first_words(as_line(cited.paper.title), TITLE_WORDS)}〕" if cited else ""

    return _LABEL.sub(named, answer)


def _first_words(text: str, limit: int) -> str:
    words = text.split()
    return text if len(words) <= limit else " ".join(words[:limit]) + " …"


def render_evidence(evidence: Evidence) -> str:
    """Return the papers, each between marks, their passages in reading order."""
    return "\n\n".join(_render_paper(paper) for paper in evidence.papers) or "(none)"


def _render_paper(labelled: LabelledPaper) -> str:
    paper = labelled.paper
    names = [author.name for author in paper.authors[:AUTHORS_SHOWN]]
    names += ["and others"] if len(paper.authors) > AUTHORS_SHOWN else []
    passages = without_repeats(sorted(labelled.passages, key=lambda passage: passage.number))
    return "\n".join(
        (
            f"[{labelled.label}] {mark(f'paper {labelled.label}')}",
            f"Title: {as_line(paper.title)}",
            *([f"Authors: {as_line(', '.join(names))}"] if names else []),
            f"Year: {paper.year or 'unknown'}",
            *map(render_passage, passages),
            mark(f"end of paper {labelled.label}"),
        )
    )


def render_passage(passage: Passage) -> str:
    """Return a passage under a mark with its section and page."""
    section = passage.section_path or passage.kind
    page = "" if passage.page is None else f", page {passage.page}"
    return f"{mark(f'passage: {section}{page}')}\n{as_data(passage.text)}"


def fit_evidence(
    evidence: Evidence, room: int, first: Sequence[str], bytes_per_token: float = BYTES_PER_TOKEN
) -> Evidence:
    """Return as much of the evidence as fits into `room` tokens, by whole passages.

    Passages are kept in the order of the ids `first`, the others are dropped. Labels and reading order do not
    change; a paper without passages is dropped.
    """
    kept: set[str] = set()
    started: set[int] = set()
    places = {passage.id: (paper, passage) for paper in evidence.papers for passage in paper.passages}
    for labelled, passage in (places[identifier] for identifier in first):
        room -= estimate_tokens(render_passage(passage), bytes_per_token)
        if labelled.label not in started:
            room -= estimate_tokens(_render_paper(replace(labelled, passages=())), bytes_per_token)
        if room < 0:
            break
        started.add(labelled.label)
        kept.add(passage.id)
    return evidence.without(places.keys() - kept)


def in_rank_order(evidence: Evidence) -> tuple[str, ...]:
    """Return the ids of the passages, the best paper's first, each paper's in reading order."""
    return tuple(
        passage.id
        for labelled in sorted(evidence.papers, key=lambda paper: paper.label)
        for passage in sorted(labelled.passages, key=lambda passage: passage.number)
    )


def estimate_tokens(text: str, bytes_per_token: float = BYTES_PER_TOKEN) -> int:
    """Return a high estimate of the tokens in a text."""
    return int(len(text.encode()) / bytes_per_token) + 1
