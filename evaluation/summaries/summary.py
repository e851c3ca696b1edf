"""Measures comparative summaries: ROUGE against a gold text, citations, and a judge's G-Score.

For G-Score a model marks the summaries of all systems together, several times in varying order.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from rich.table import Table

from assistant.checking.citations import plain_claim
from assistant.comparing.records import Comparison
from assistant.prompts.render import as_data, as_line
from assistant.records import LabelledPaper
from assistant.trail.comparison_file import comparison_from_json
from corpus.sentences import sentence_spans
from corpus.settings import read_settings
from corpus.text import words
from evaluation.harness import Figures, Report, command, decimals, mean, table
from evaluation.input_files import EvaluationError, read_text, read_trail
from evaluation.judging import (
    COHERENCE,
    FLUENCY,
    Judge,
    JudgeFigures,
    between,
    judge_figures,
    judge_table,
    open_judge,
    relabel,
)
from evaluation.rouge import OVERLAPS, Scores, overlaps
from evaluation.summaries.citation_style import CITE, neutralize

LARGEST_GOLD = 2 * 2**20
# ChatCite's six qualities (arXiv 2403.02574, section 4), in our words.
DEFINITIONS: Mapping[str, str] = {
    "consistency": "the text says what the section that people wrote says, and nothing against it.",
    "coherence": COHERENCE,
    "comparativeness": "it sets papers beside each other and beside the work at hand, saying what they share"
    " and where they differ, instead of telling of one after the other.",
    "integrity": "it is whole: background, what each paper does, an assessment of earlier work, and what the"
    " work at hand contributes and does newly.",
    "fluency": FLUENCY,
    "citation_accuracy": "each label stands with what that very paper says, and nothing that comes from a"
    " paper is without its label.",
}
DIMENSIONS = tuple(DEFINITIONS)
NEEDS_GOLD = "consistency"
VOTES, SEED = 5, 0
ABSTRACT_WORDS = 120
WORKS_COMPARED = 2  # a sentence that cites this many works counts as comparative
_SHARES = {
    "Citation recall": "citation_recall",
    "Citation precision": "citation_precision",
    "Sentences that cite two works or more": "comparative_by_count",
}
_HEADING = re.compile(r"^ {0,3}#{1,6} [^\n]*$", re.MULTILINE)
_LIST_MARK = re.compile(r"^[ \t]*(?:[-*+•]|\d{1,2}[.)])[ \t]+", re.MULTILINE)
_PARAGRAPH = re.compile(r"\n\s*\n")


@dataclass(frozen=True, slots=True)
class System:
    """A summary to measure; `name` is that of its file or system."""

    name: str
    comparison: Comparison

    @property
    def text(self) -> str:
        return self.comparison.answer.text


def measure_summary(system: System, gold: str | None = None) -> Figures:
    """Measure a summary, shares 0..1; a figure is None if nothing can be counted or there is no gold text."""
    comparison = system.comparison
    sentences = [sentence for paragraph in sentences_of(system.text) for sentence in paragraph]
    labels = {labelled.label for labelled in comparison.evidence.papers}
    return {
        "rouge": None if gold is None else rouge(system.text, gold),
        "citation_recall": comparison.answer.citation_recall,
        "citation_precision": comparison.answer.citation_precision,
        "papers": len(comparison.paper_ids),
        "papers_covered": len(labels.intersection(comparison.answer.cited_labels)),
        "words": len(words(plain_claim(system.text))),
        "sentences": len(sentences),
        "comparative_by_count": mean(
            len(neutralize(sentence).cited) >= WORKS_COMPARED for sentence in sentences
        ),
    }


def sentences_of(text: str) -> tuple[tuple[str, ...], ...]:
    """Split a text into paragraphs of sentences, without headings and list marks."""
    plain = _LIST_MARK.sub("", _HEADING.sub("\n", text)).replace("**", "")
    paragraphs = (
        tuple(
            sentence
            for start, end in sentence_spans(paragraph)
            if words(sentence := " ".join(paragraph[start:end].split()))
        )
        for paragraph in _PARAGRAPH.split(plain)
    )
    return tuple(paragraph for paragraph in paragraphs if paragraph)


def rouge(text: str, gold: str) -> Scores:
    """Compute ROUGE F1, 0..100, stemmed; citations are removed, because their styles differ."""
    return overlaps(_without_citations(gold), _without_citations(text))


def _without_citations(text: str) -> str:
    sentences = (sentence for paragraph in sentences_of(text) for sentence in paragraph)
    return " ".join(neutralize(sentence).text.replace(CITE, " ") for sentence in sentences)


def read_gold(path: Path) -> str:
    """Read the reference text that people wrote; raises EvaluationError."""
    text = read_text(path, "gold text", LARGEST_GOLD).strip()
    if not words(text):
        raise EvaluationError(f"The gold text {path} has no words. Without --gold there is no ROUGE.")
    return text


def judge_summaries(
    judge: Judge, systems: Sequence[System], votes: int = VOTES, gold: str | None = None
) -> JudgeFigures:
    """Have a judge mark all systems; consistency only with a gold text. Raises EvaluationError."""
    definitions = {
        name: meaning for name, meaning in DEFINITIONS.items() if gold is not None or name != NEEDS_GOLD
    }
    first = systems[0].comparison
    ballots = judge.ballots(
        "judge_summaries",
        definitions,
        relabel_texts(systems),
        votes,
        SEED,
        description=between("the work at hand", as_data(first.about)),
        references=between("papers", "\n\n".join(map(_reference, first.evidence.papers))),
        gold=(
            "There is no section that people wrote on this."
            if gold is None
            else f"The section that people wrote:\n\n{between('written section', as_data(gold))}"
        ),
    )
    dimensions = tuple(definitions)
    writers = {system.name: (system.comparison.provenance.generator,) for system in systems}
    return judge_figures(judge, dimensions, writers, [judge.cast(ballots, dimensions)])


def _reference(labelled: LabelledPaper) -> str:
    paper = labelled.paper
    abstract = as_line(paper.abstract).split()
    beginning = " ".join(abstract[:ABSTRACT_WORDS]) + (" …" if len(abstract) > ABSTRACT_WORDS else "")
    head = f"[{labelled.label}] {as_line(paper.title)} ({paper.year or 'year unknown'})"
    return f"{head}\n{beginning or '(no abstract)'}"


def relabel_texts(systems: Sequence[System]) -> list[str]:
    """Replace the labels in all texts by those of the first system; raises EvaluationError."""
    papers = systems[0].comparison.evidence.papers
    first = {labelled.paper.id: labelled.label for labelled in papers}
    for system in systems:
        if set(system.comparison.paper_ids) != set(systems[0].comparison.paper_ids):
            raise EvaluationError(
                f"{system.name} and {systems[0].name} compare different papers, so they cannot be judged"
                " together. Judge comparisons of the same papers."
            )
        if not system.text.strip():
            raise EvaluationError(f"{system.name} has no summary, so it cannot be judged. Leave it out.")
    return [relabel(system.text, system.comparison.evidence, first) for system in systems]


def read_systems(paths: Sequence[Path]) -> list[System]:
    """Read comparisons, named by their files; raises EvaluationError."""
    systems: dict[str, System] = {}
    for path in paths:
        name = path.stem if path.stem not in systems else str(path)
        if name in systems:
            raise EvaluationError(f"The file {path} is given twice. Give each comparison once.")
        systems[name] = System(name, read_trail(path, "comparison", comparison_from_json))
    return list(systems.values())


def _figures_table(systems: Mapping[str, Figures]) -> Table:
    all_figures = tuple(systems.values())
    rows: list[tuple[str, ...]] = []
    for name in OVERLAPS if any(figures["rouge"] for figures in all_figures) else ():
        label = f"ROUGE-{name.removeprefix('rouge')} F1"
        rows.append(
            (
                label,
                *(
                    decimals(figures["rouge"][name] if figures["rouge"] else None, 2)
                    for figures in all_figures
                ),
            )
        )
    rows += [
        (label, *(decimals(figures[name]) for figures in all_figures)) for label, name in _SHARES.items()
    ]
    rows.append(
        (
            "Papers covered",
            *(f"{figures['papers_covered']} of {figures['papers']}" for figures in all_figures),
        )
    )
    rows.append(("Sentences", *(str(figures["sentences"]) for figures in all_figures)))
    rows.append(("Words", *(f"{figures['words']:,}" for figures in all_figures)))
    return table(("Figure", *systems), rows)


@command("summary")
def summary(comparison: list[Path], gold: Path | None = None, judge: str = "", votes: int = VOTES) -> Report:
    gold_text = read_gold(gold) if gold else None
    systems = read_systems(comparison)
    figures = {system.name: measure_summary(system, gold_text) for system in systems}
    tables = [_figures_table(figures)]
    judged = None
    if judge:
        judged = judge_summaries(open_judge(judge, read_settings()), systems, votes, gold_text)
        notes = () if gold else ("Without a gold text consistency is not marked.",)
        tables.append(judge_table(judged, "G-Score", notes))
    return Report({"systems": figures, "judge": judged}, tables)
