"""How good a comparative summary is: words shared with a gold text, citations, and what its sentences do.

Also G-Score: a model marks the summaries of all systems together, several times, each time in another order.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import get_args

from rich.table import Table
from rouge_score.rouge_scorer import RougeScorer

from assistant.checking import plain_claim
from assistant.comparing import (
    Ablation,
    CallLedger,
    Compared,
    Comparer,
    Comparison,
    ComparisonRequest,
    ReflectiveGenerator,
    check_applicable,
    open_comparative_generator,
)
from assistant.generators import EXTRACTIVE
from assistant.prompts import as_data, as_line, load_prompt
from assistant.records import AssistantError, LabelledPaper, Message
from assistant.trail import comparison_from_json
from corpus.encoder_choice import open_encoder
from corpus.encoders import SentenceEncoder
from corpus.sentences import sentence_spans
from corpus.settings import read_settings
from corpus.store import Corpus
from corpus.text import words
from evaluation.harness import Figures, Report, command, decimals, mean, say, table
from evaluation.input_files import PROMPTS, EvaluationError, read_text, read_trail
from evaluation.judging import (
    COHERENCE,
    FLUENCY,
    RULES,
    Ballot,
    Judge,
    JudgeFigures,
    between,
    judge_figures,
    judge_table,
    numbered,
    open_judge,
    qualities,
    relabelled,
    shown_orders,
)
from evaluation.summaries.citation_style import CITE, neutral
from evaluation.summaries.tags import TAGS, Provenance, SentenceTagger, figures_of, tag_weights, tags_table

ROUGE = ("rouge1", "rouge2", "rougeL")
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
_SHARES = {
    "Citation recall": "citation_recall",
    "Citation precision": "citation_precision",
    "Sentences that compare, by tag": "comparative_by_tag",
    "by citing two works or more": "comparative_by_count",
    "by either": "comparative",
}
_HEADING = re.compile(r"^ {0,3}#{1,6} [^\n]*$", re.MULTILINE)
_LIST_MARK = re.compile(r"^[ \t]*(?:[-*+•]|\d{1,2}[.)])[ \t]+", re.MULTILINE)
_PARAGRAPH = re.compile(r"\n\s*\n")


@dataclass(frozen=True, slots=True)
class System:
    """A summary to be measured, under the name of its file and what was left out of it."""

    name: str
    comparison: Comparison

    @property
    def text(self) -> str:
        return self.comparison.answer.text


def measure_summary(system: System, tagger: SentenceTagger, gold: str | None = None) -> Figures:
    """Return the figures of a summary, shares 0..1; None where there is nothing to count, or no gold text.

    A sentence compares by its tag, by citing two works, or by either.
    """
    comparison = system.comparison
    tagged = tagger.tag(sentences_of(system.text))
    labels = {labelled.label for labelled in comparison.evidence.papers}
    counts = Counter(one.tag for one in tagged)
    return {
        "rouge": None if gold is None else rouge(system.text, gold),
        "citation_recall": comparison.answer.citation_recall,
        "citation_precision": comparison.answer.citation_precision,
        "papers": len(comparison.paper_ids),
        "papers_covered": len(labels.intersection(comparison.answer.cited_labels)),
        "words": len(words(plain_claim(system.text))),
        "sentences": len(tagged),
        "comparative_by_tag": mean(one.compares_by_tag for one in tagged),
        "comparative_by_count": mean(one.compares_by_count for one in tagged),
        "comparative": mean(one.compares_by_tag or one.compares_by_count for one in tagged),
        "tags": {tag: counts[tag] / len(tagged) if tagged else 0.0 for tag in TAGS},
    }


def sentences_of(text: str) -> tuple[tuple[str, ...], ...]:
    """Return the sentences of a text, paragraph by paragraph, without headings and list marks."""
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


def rouge(text: str, gold: str) -> dict[str, float]:
    """Return ROUGE F1, 0..100, stemmed, without citations: styles of citing differ."""
    scores = _scorer().score(_uncited(gold), _uncited(text))
    return {name: 100 * float(scores[name].fmeasure) for name in ROUGE}


@cache
def _scorer() -> RougeScorer:
    return RougeScorer(list(ROUGE), use_stemmer=True)


def _uncited(text: str) -> str:
    sentences = (sentence for paragraph in sentences_of(text) for sentence in paragraph)
    return " ".join(neutral(sentence).text.replace(CITE, " ") for sentence in sentences)


def read_gold(path: Path) -> str:
    """Return the written text that summaries are compared with; raises EvaluationError."""
    text = read_text(path, "gold text", LARGEST_GOLD).strip()
    if not words(text):
        raise EvaluationError(f"The gold text {path} has no words. Leave --gold out, and ROUGE is left out.")
    return text


def judge_summaries(
    judge: Judge, systems: Sequence[System], votes: int = VOTES, gold: str | None = None
) -> JudgeFigures:
    """Have all systems marked in each vote; without a gold text five qualities. Raises EvaluationError."""
    texts = _texts_to_judge(systems)
    dimensions = tuple(name for name in DIMENSIONS if gold is not None or name != NEEDS_GOLD)
    first = systems[0].comparison
    ballots = [
        Ballot(order, _messages(first, [texts[index] for index in order], dimensions, gold))
        for order in shown_orders(len(systems), votes, SEED)
    ]
    judge.check_room(ballots[0])
    cast = dict(judge.cast(ballots, dimensions))
    return judge_figures(
        judge=judge.model.id,
        dimensions=dimensions,
        names=[one.name for one in systems],
        judged=[[cast[index] for index in range(votes)]],
        wrote=judge.own_among({one.name: (one.comparison.provenance.generator,) for one in systems}),
    )


def _texts_to_judge(systems: Sequence[System]) -> list[str]:
    """Return the systems' texts, all with the labels of the first; raises EvaluationError."""
    first = {one.paper.id: one.label for one in systems[0].comparison.evidence.papers}
    for system in systems:
        if set(system.comparison.paper_ids) != set(systems[0].comparison.paper_ids):
            raise EvaluationError(
                f"{system.name} and {systems[0].name} compare different papers, so they cannot be judged"
                " together. Judge comparisons of the same papers."
            )
        if not system.text.strip():
            raise EvaluationError(f"{system.name} has no summary, so it cannot be judged. Leave it out.")
    return [relabelled(system.text, system.comparison.evidence, first) for system in systems]


def _messages(
    comparison: Comparison, texts: Sequence[str], dimensions: Sequence[str], gold: str | None
) -> tuple[Message, ...]:
    def reference(labelled: LabelledPaper) -> str:
        paper = labelled.paper
        abstract = as_line(paper.abstract).split()
        shown = " ".join(abstract[:ABSTRACT_WORDS]) + (" …" if len(abstract) > ABSTRACT_WORDS else "")
        head = f"[{labelled.label}] {as_line(paper.title)} ({paper.year or 'year unknown'})"
        return f"{head}\n{shown or '(no abstract)'}"

    return load_prompt("judge_summaries", PROMPTS).render(
        dimensions=qualities({name: DEFINITIONS[name] for name in dimensions}),
        rules=RULES,
        description=between("the work at hand", as_data(comparison.about)),
        references=between("papers", "\n\n".join(map(reference, comparison.evidence.papers))),
        gold=(
            "There is no section that people wrote on this."
            if gold is None
            else f"The section that people wrote:\n\n{between('written section', as_data(gold))}"
        ),
        texts=numbered(texts),
        count=str(len(texts)),
    )


def read_systems(paths: Sequence[Path]) -> list[System]:
    """Return the comparisons of files under the files' names; raises EvaluationError."""
    systems: dict[str, System] = {}
    for path in paths:
        name = path.stem if path.stem not in systems else str(path)
        if name in systems:
            raise EvaluationError(f"The file {path} is given twice. Give each comparison once.")
        systems[name] = System(name, read_trail(path, "comparison", comparison_from_json))
    return list(systems.values())


def _read_parts(names: Sequence[str]) -> tuple[Ablation, ...]:
    parts: dict[str, Ablation] = {part: part for part in get_args(Ablation)}
    if unknown := [name for name in names if name not in parts]:
        raise EvaluationError(f"{unknown[0]!r} cannot be left out; one of {', '.join(parts)} can.")
    return tuple(dict.fromkeys(parts[name] for name in names))


def _ablated(systems: Sequence[System], without: Sequence[Ablation]) -> Iterator[System]:
    """Yield each comparison once more for each part left out; all plans are printed before any runs.

    Calls that the whole comparison made in the same words are not made again.
    """
    settings = read_settings()
    encoder = open_encoder(settings)
    corpus = Corpus.open(settings.corpus_path, encoder)
    plans = []
    for system in systems:
        for part in without:
            whole = system.comparison
            if part in whole.options.without:
                raise EvaluationError(
                    f"{system.name} was made without {part} already. Leave --without {part} out."
                )
            name = whole.provenance.generator
            generator = open_comparative_generator(name, settings, encoder, whole.parameters)
            check_applicable(part, whole.options, reflects=isinstance(generator, ReflectiveGenerator))
            comparer = Comparer(corpus, encoder, generator)
            options = replace(whole.options, without=(*whole.options.without, part))
            request = ComparisonRequest(whole.paper_ids, whole.about, options)
            plans.append((f"{system.name}, without {part}", comparer, request, whole))
    for name, comparer, request, _ in plans:
        say(f"{name}: {comparer.plan(request).budget.calls:,} model calls at most.")
    for name, comparer, request, whole in plans:
        try:
            *_, last = comparer.compare(request, CallLedger(whole.calls), whole.id)
        except AssistantError as error:
            raise EvaluationError(f"{name}: {error}") from error
        if not isinstance(last, Compared):
            raise EvaluationError(f"{name} ended without a summary.")
        yield System(name, last.comparison)


def _figures_table(systems: Mapping[str, Figures], classifier: Provenance) -> Table:
    """Return the figures of all systems, beside those of real sections where there are any."""
    found, real = tuple(systems.values()), figures_of(classifier, "real_sections")
    rows: list[tuple[str, ...]] = []
    for name in ROUGE if any(one["rouge"] for one in found) else ():
        label = f"ROUGE-{name.removeprefix('rouge')} F1"
        rows.append((label, *(decimals(one["rouge"][name] if one["rouge"] else None, 2) for one in found)))
    for label, name in _SHARES.items():
        beside = [decimals(real.get(name))] if name.startswith("comparative") else []
        rows.append((label, *(decimals(one[name]) for one in found), *beside))
    rows.append(("Papers covered", *(f"{one['papers_covered']} of {one['papers']}" for one in found)))
    rows.append(("Sentences", *(str(one["sentences"]) for one in found)))
    rows.append(("Words", *(f"{one['words']:,}" for one in found)))
    return table(("What", *systems, "Real sections"), rows)


def summary_report(
    comparisons: Sequence[Path], gold_file: Path | None, judge_id: str, votes: int, without: Sequence[str]
) -> tuple[Figures, list[Table]]:
    """Measure comparisons; raises EvaluationError, CorpusError and AssistantError."""
    settings = read_settings()
    parts = _read_parts(without)
    gold = read_gold(gold_file) if gold_file else None
    if not comparisons:
        raise EvaluationError("There is no comparison to measure. Give --comparison a file, or --table.")
    systems = read_systems(comparisons)
    judge = open_judge(judge_id, settings) if judge_id else None
    weights = tag_weights()
    if parts:
        systems += list(_ablated(systems, parts))
    # The encoder that the weights were trained with, whatever the corpus has.
    tagger = SentenceTagger(weights.chain(), SentenceEncoder())
    figures = {one.name: measure_summary(one, tagger, gold) for one in systems}
    classifier = weights.provenance
    tables = [
        _figures_table(figures, classifier),
        tags_table(classifier, {name: own["tags"] for name, own in figures.items()}),
    ]
    judged = None
    if judge:
        say(judge.calls_said(votes))
        judged = judge_summaries(judge, systems, votes, gold)
        notes = () if gold else ("Without a gold text consistency is not marked.",)
        tables.append(judge_table(judged, "G-Score", notes))
    return {"systems": figures, "judge": judged, "classifier": classifier}, tables


@command("summary")
def summary(
    comparison: list[Path] | None = None,
    gold: Path | None = None,
    judge: str = "",
    votes: int = 5,
    without: list[str] | None = None,
    *,
    experiment: bool = False,
    corwa: Path | None = None,
    anthology: Path | None = None,
    out_folder: Path | None = None,
    writer: str = EXTRACTIVE,
    samples: int = 2,
    sections: int | None = None,
    as_json: bool = False,
) -> Report:
    from evaluation.summaries.experiment import experiment_tables, table_report  # noqa: PLC0415

    if not experiment:
        figures, tables = summary_report(comparison or (), gold, judge, votes, without or ())
        return Report(figures, () if as_json else tables)
    if comparison or gold or without:
        raise EvaluationError("--table compares by itself. Leave --comparison, --gold and --without out.")
    if not (corwa and anthology and out_folder):
        raise EvaluationError("--table takes --corwa, --anthology and --out. Give all three.")
    report = table_report(corwa, anthology, out_folder, writer, samples, sections, judge, votes)
    return Report(report, () if as_json else experiment_tables(report))
