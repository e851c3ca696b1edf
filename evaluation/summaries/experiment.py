"""ChatCite's experiment (arXiv 2403.02574, section 4), on sections of CORWA whose references we hold.

Gold sections are what people wrote on references of which we hold title and abstract. Every system writes on
every gold section; what is finished is kept and not run again.
"""

import hashlib
import math
import re
import statistics
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path

from pydantic import TypeAdapter, ValidationError
from rich.table import Table

from assistant.comparing import (
    Ablation,
    CallLedger,
    ComparativeGenerator,
    Compared,
    Comparer,
    Comparison,
    ComparisonError,
    ComparisonOptions,
    ComparisonRequest,
    ComparisonStep,
    ExtractiveComparer,
    ReflectiveGenerator,
    SourceText,
    Task,
    check_applicable,
    open_comparative_generator,
    render_description,
    summary_words,
)
from assistant.prompts import SummaryForm, as_data, as_line, form, load_prompt, mark
from assistant.records import AssistantError, Draft, ElementName, Message
from assistant.trail import comparison_from_json, comparison_to_json
from corpus.encoder_choice import open_encoder
from corpus.encoders import Encoder, SentenceEncoder
from corpus.language import stem, stop_words, terms_of
from corpus.records import Collection as CorpusCollection
from corpus.records import Paper, paper_id
from corpus.sentences import sentence_spans
from corpus.settings import Settings, read_settings
from corpus.store import Corpus
from corpus.text import words
from corpus.wording import counted
from evaluation.harness import Figures, decimals, say, table
from evaluation.input_files import PROMPTS, EvaluationError, read_text
from evaluation.judging import Judge, JudgeFigures, open_judge
from evaluation.kept import write_whole
from evaluation.summaries.citation_style import CITE, NamedWork, comparable_name, neutral, parse_work
from evaluation.summaries.summary import ROUGE, VOTES, System, judge_summaries, measure_summary
from evaluation.summaries.tags import (
    SentenceTagger,
    TaggedParagraph,
    TaggedSection,
    read_sections,
    tag_weights,
)
from evaluation.tables.harness import printed_rows
from indexer.build import build_collection
from indexer.sources import SourcePaper
from indexer.sources.acl_anthology import all_volumes

FEWEST_REFERENCES, FEWEST_WORDS, TOPIC_WORDS = 3, 40, 8
# How much of what is said must be what the paper is about, 0..2: where one paper fits the names, where
# several do, and by how much the best of these must lead.
ENOUGH_ALONE, ENOUGH, LEAD = 0.2, 0.5, 0.3
LARGEST_FILE = 256 * 2**20
COLLECTION = CorpusCollection(id="gold", title="References of gold sections", source="ACL Anthology")
_NOT_IN_A_NAME = re.compile(r"[^A-Za-z0-9.-]")

Stems = frozenset[str]


@dataclass(frozen=True, slots=True)
class PaperIndex:
    """Papers by the first author's family name and the year, and document frequencies of title stems."""

    papers: Mapping[tuple[str, int], Sequence[Paper]]
    titles: Mapping[str, int]
    count: int

    def named(self, work: NamedWork) -> list[Paper]:
        """Return the papers that a citation may mean; "et al." stands for two authors or more."""
        papers = self.papers.get((work.authors[0], work.year), ())
        if work.has_more:
            return [paper for paper in papers if len(paper.authors) > len(work.authors) + 1]
        return [paper for paper in papers if _families(paper) == work.authors]

    def rarity(self, stems: Iterable[str]) -> float:
        return sum(math.log((self.count + 1) / (self.titles.get(stem, 0) + 1)) for stem in stems)

    def likeness(self, said: Stems, paper: Paper) -> float:
        """Return how much of a title is said, and how much of what is said the paper says, 0..2."""
        title = frozenset(terms_of(paper.title))
        text = title.union(terms_of(paper.abstract))
        return self._share(said & title, title) + self._share(said & text, said)

    def meant(self, work: NamedWork, said: Stems) -> Paper | None:
        """Return the paper that a citation means, None where that is not sure."""
        likeness = {paper.id: self.likeness(said, paper) for paper in self.named(work)}
        ranked = sorted(self.named(work), key=lambda paper: -likeness[paper.id])
        if not ranked:
            return None
        best, *others = (likeness[paper.id] for paper in ranked)
        is_sure = best >= ENOUGH and best - others[0] >= LEAD if others else best >= ENOUGH_ALONE
        return ranked[0] if is_sure else None

    def _share(self, part: Stems, whole: Stems) -> float:
        total = self.rarity(whole)
        return self.rarity(part) / total if total else 0.0


def index_papers(papers: Iterable[Paper], wanted: Collection[NamedWork]) -> PaperIndex:
    """Return an index of the papers that may be wanted; the titles of all count for rarity."""
    keys = {(work.authors[0], work.year) for work in wanted}
    found: dict[tuple[str, int], list[Paper]] = defaultdict(list)
    titles: Counter[str] = Counter()
    count = 0
    for paper in papers:
        count += 1
        titles.update(set(terms_of(paper.title)))
        if paper.authors and (key := (_families(paper)[0], paper.year or 0)) in keys:
            found[key].append(paper)
    return PaperIndex(found, titles, count)


def _families(paper: Paper) -> tuple[str, ...]:
    return tuple(comparable_name(author.family) for author in paper.authors)


def sentences(section: TaggedSection) -> tuple[str, ...]:
    return tuple(sentence for paragraph in section.text for sentence in paragraph)


def cited_works(sentence: str) -> tuple[NamedWork, ...]:
    """Return the works that a sentence cites by author and year, each once, in a stable order."""
    parsed = (parse_work(work) for work in sorted(neutral(sentence).cited))
    return tuple(dict.fromkeys(work for work in parsed if work))


def resolve_references(section: TaggedSection, index: PaperIndex) -> dict[NamedWork, Paper]:
    """Return the papers that a section surely cites, in the order of their first citation.

    Two works that resolve to the same paper are both left out.
    """
    said: dict[NamedWork, set[str]] = defaultdict(set)
    for sentence in sentences(section):
        stems = terms_of(neutral(sentence).text.replace(CITE, " "))
        for work in cited_works(sentence):
            said[work].update(stems)
    meant = {work: index.meant(work, frozenset(stems)) for work, stems in said.items()}
    times = Counter(paper.id for paper in meant.values() if paper)
    return {work: paper for work, paper in meant.items() if paper and times[paper.id] == 1}


@dataclass(frozen=True, slots=True)
class GoldSection:
    """What a section says of the references that we hold, in the order of their first citation.

    `about` stands in for a description of the citing work: telling words of the references' titles. `key`
    names its files.
    """

    key: str
    papers: tuple[Paper, ...]
    about: str
    text: str


@dataclass(frozen=True, slots=True)
class GoldPapers:
    """The references of gold sections as a collection, each once; a source that the indexer can build."""

    sections: Sequence[GoldSection]
    collection = COLLECTION

    def __len__(self) -> int:
        return len(self._papers)

    def papers(self) -> Iterator[SourcePaper]:
        for position, paper in enumerate(self._papers.values()):
            yield SourcePaper(paper.id, replace(paper, position=position))

    @property
    def _papers(self) -> dict[str, Paper]:
        return {paper.id: paper for section in self.sections for paper in section.papers}


# The whole Anthology is read for them, which takes half a minute; each writer's table wants the same.
@lru_cache(maxsize=1)
def read_gold_sections(corwa: Path, anthology: Path) -> tuple[GoldSection, ...]:
    """Return the gold sections of CORWA over a copy of the Anthology.

    Raises EvaluationError, also where there is none, and SourceError.
    """
    sections = read_sections(corwa)
    every = (sentence for section in sections for sentence in sentences(section))
    wanted = {work for sentence in every for work in cited_works(sentence)}
    volumes = all_volumes(anthology, anthology)
    papers = (entry.paper for volume in volumes for entry in volume.papers() if not entry.problem)
    index = index_papers(papers, wanted)
    gold = tuple(found for section in sections if (found := _gold_section(section, index)))
    if not gold:
        raise EvaluationError(
            f"No section of {corwa} cites {FEWEST_REFERENCES} papers of {anthology} that have an abstract."
        )
    return gold


def _gold_section(section: TaggedSection, index: PaperIndex) -> GoldSection | None:
    """Return what a section says of the references that we hold, None where it is too little."""
    resolved = resolve_references(section, index)
    held = {work: paper for work, paper in resolved.items() if paper.abstract.strip()}
    told = [_sentences_on(paragraph, held.keys()) for paragraph in section.paragraphs]
    text = "\n\n".join(" ".join(chosen) for chosen in told if chosen)
    cited = {work for chosen in told for sentence in chosen for work in cited_works(sentence)}
    papers = tuple(
        replace(paper, id=paper_id(COLLECTION.id, paper.id), collection_id=COLLECTION.id, bibtex="")
        for work, paper in held.items()
        if work in cited
    )
    if len(papers) < FEWEST_REFERENCES or len(words(text)) < FEWEST_WORDS:
        return None
    key = hashlib.sha256(section.s2_paper_id.encode()).hexdigest()[:12]
    return GoldSection(key, papers, _topic(papers, index), text)


def _sentences_on(paragraph: TaggedParagraph, held: Collection[NamedWork]) -> list[str]:
    """Return the sentences at least half of whose citations are held, and those that continue them."""
    chosen = []
    goes_on = False
    for sentence, tag in zip(paragraph.sentences, paragraph.tags, strict=True):
        cited = cited_works(sentence)
        if cited:
            goes_on = 2 * sum(work in held for work in cited) >= len(cited)
        elif tag != "Single_summ":
            goes_on = False
        if goes_on:
            chosen.append(sentence)
    return chosen


def _topic(papers: Sequence[Paper], index: PaperIndex) -> str:
    """Return the most telling words of the titles: rare ones, and those of several titles."""
    titles: Counter[str] = Counter()
    written: dict[str, str] = {}
    for paper in papers:
        stems = {stem(word): word for word in words(paper.title) if word not in stop_words()}
        titles.update(stems.keys())
        written = stems | written
    telling = sorted(titles, key=lambda term: (-titles[term] * index.rarity([term]), term))[:TOPIC_WORDS]
    return f"A work related to these topics: {', '.join(written[term] for term in telling)}."


class LeadComparer(ExtractiveComparer):
    """The floor: the first sentence of each abstract, in the order of the papers."""

    name = "lead"
    label = "Lead"
    note = ""

    def extract_key_elements(self, source: SourceText, task: Task) -> Mapping[ElementName, str]:  # noqa: ARG002
        return {}

    def compose(self, step: ComparisonStep) -> Draft:
        told = []
        for source in (step.sources[label] for label in step.labels):
            abstract = as_data(source.paper.paper.abstract)
            start, end = sentence_spans(abstract)[0]
            told.append(f"{abstract[start:end].strip().rstrip('.!?')} [{source.label}].")
        return Draft(" ".join(told))


def zero_shot_messages(step: ComparisonStep, summary: str, returned: SummaryForm) -> tuple[Message, ...]:  # noqa: ARG001
    """Return the prompt for the whole summary at once."""
    return _at_once(step, returned, "")


def few_shot_messages(step: ComparisonStep, summary: str, returned: SummaryForm) -> tuple[Message, ...]:  # noqa: ARG001
    """Return the same prompt with two worked examples."""
    return _at_once(step, returned, (PROMPTS / "examples.md").read_text(encoding="utf-8"))


def _at_once(step: ComparisonStep, returned: SummaryForm, examples: str) -> tuple[Message, ...]:
    listed = []
    for source in (step.sources[label] for label in step.labels):
        paper = source.paper.paper
        head = f"[{source.label}] {as_line(paper.title)} ({paper.year or 'year unknown'})"
        listed.append(f"{head}\n{as_line(paper.abstract)}")
    references = "\n\n".join(listed)
    return load_prompt("one_prompt", PROMPTS).render(
        words=str(summary_words(len(step.labels))),
        examples=examples,
        description=render_description(step),
        references=f"{mark('references')}\n{references}\n{mark('end of references')}",
        form=form(returned),
    )


@dataclass(frozen=True, slots=True)
class TableRow:
    """A system by the name of its files and the title for readers.

    `not_applicable` says why it cannot be run; such a row has no generator.
    """

    name: str
    title: str
    generator: ComparativeGenerator | None = None
    options: ComparisonOptions = field(default_factory=ComparisonOptions)
    not_applicable: str = ""


# Without reflection is ChatCite's incremental baseline too.
_ABLATIONS: Mapping[Ablation, str] = {
    "elements": "No key elements",
    "increments": "No increments",
    "reflection": "No reflection",
}


def table_rows(writer: str, samples: int, settings: Settings, encoder: Encoder) -> list[TableRow]:
    """Return all rows, the method before its ablations, which reuse its calls; raises AssistantError."""
    rows = [
        TableRow("lead", "Lead sentences", LeadComparer(encoder)),
        TableRow("extractive", "Extractive", ExtractiveComparer(encoder)),
    ]
    options, at_once = ComparisonOptions(samples=samples), ComparisonOptions(without=tuple(_ABLATIONS))
    method = open_comparative_generator(writer, settings, encoder)
    reflects = isinstance(method, ReflectiveGenerator)
    if reflects:
        zero = open_comparative_generator(writer, settings, encoder, messages=zero_shot_messages)
        few = open_comparative_generator(writer, settings, encoder, messages=few_shot_messages)
        rows.append(TableRow("zero-shot", "Zero-shot", zero, at_once))
        rows.append(TableRow("few-shot", "Few-shot", few, at_once))
        rows.append(TableRow("chatcite", "ChatCite", method, options))
    else:
        reason = "Without a model there is nothing to prompt. Name one by --writer."
        titles = {"zero-shot": "Zero-shot", "few-shot": "Few-shot", "chatcite": "ChatCite"}
        rows += [TableRow(name, title, not_applicable=reason) for name, title in titles.items()]
    for part, title in _ABLATIONS.items():
        try:
            check_applicable(part, options, reflects=reflects)
        except ComparisonError as error:
            rows.append(TableRow(f"without-{part}", title, not_applicable=str(error)))
        else:
            rows.append(TableRow(f"without-{part}", title, method, replace(options, without=(part,))))
    return rows


@dataclass(frozen=True, slots=True)
class SectionRun:
    """The systems that finished a section, by their names; `failed` says why the others did not."""

    section: GoldSection
    systems: Mapping[str, System]
    failed: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Experiment:
    """Runs systems over a corpus; what an earlier run finished in `folder` is not run again."""

    corpus: Corpus
    encoder: Encoder
    rows: Sequence[TableRow]
    folder: Path

    def run(self, sections: Sequence[GoldSection]) -> Iterator[SectionRun]:
        """Yield the sections as they are done; raises EvaluationError where kept files are of others."""
        for number, section in enumerate(sections, start=1):
            systems: dict[str, System] = {}
            failed: dict[str, str] = {}
            for row in self.rows:
                if row.generator:
                    place = f"Section {number} of {len(sections)}, {row.title}"
                    try:
                        summary = self._summary(section, row, row.generator, systems, place)
                        systems[row.name] = System(row.name, summary)
                    except AssistantError as error:
                        failed[row.name] = str(error)
                        say(f"{place}: failed. {error}")
            yield SectionRun(section, systems, failed)

    def _summary(
        self,
        section: GoldSection,
        row: TableRow,
        generator: ComparativeGenerator,
        systems: Mapping[str, System],
        place: str,
    ) -> Comparison:
        path = self.folder / file_name(row.name, generator.name) / f"{section.key}.json"
        papers = tuple(paper.id for paper in section.papers)
        request = ComparisonRequest(papers, section.about, row.options)
        if path.is_file():
            say(f"{place}: done before.")
            return _kept(path, request, generator.name)
        say(f"{place}: running.")
        whole = systems.get("chatcite")
        known = whole.comparison.calls if whole and row.options.without else ()
        *_, last = Comparer(self.corpus, self.encoder, generator).compare(request, CallLedger(known))
        if not isinstance(last, Compared) or not last.comparison.answer.text.strip():
            raise ComparisonError("It wrote nothing.")
        write_whole(path, comparison_to_json(last.comparison))
        return last.comparison


def file_name(*parts: str) -> str:
    """Return a name for a folder, whatever characters an id has."""
    return "--".join(_NOT_IN_A_NAME.sub("-", part) for part in parts)


def _kept(path: Path, request: ComparisonRequest, generator: str) -> Comparison:
    """Return a comparison that an earlier run made; raises EvaluationError where it is another."""
    try:
        kept = comparison_from_json(read_text(path, "comparison", LARGEST_FILE))
    except AssistantError as error:
        raise EvaluationError(f"{path}: {error} Remove it, and it is made anew.") from error
    asked = (kept.paper_ids, kept.about, kept.options, kept.provenance.generator)
    if asked != (request.papers, request.about, request.options, generator):
        raise EvaluationError(
            f"{path} was made of other papers or in another way. Remove it, or give --out another folder."
        )
    return kept


@dataclass(frozen=True, slots=True)
class KeptJudgement:
    """The marks of a section, and a hash of what the judge was shown."""

    shown: str
    figures: JudgeFigures


_JUDGEMENT = TypeAdapter(KeptJudgement)


def judged_section(run: SectionRun, judge: Judge, votes: int, folder: Path) -> JudgeFigures:
    """Return the judge's marks of a section's systems, kept ones where it was shown the same.

    Raises EvaluationError where they cannot be judged together. Where no vote counts nothing is kept.
    """
    systems = tuple(run.systems.values())
    texts = [run.section.text, str(votes), *(part for one in systems for part in (one.name, one.text))]
    shown = hashlib.sha256("\x00".join(texts).encode()).hexdigest()
    path = folder / file_name("judged", judge.model.id) / f"{run.section.key}.json"
    if path.is_file():
        try:
            kept = _JUDGEMENT.validate_json(read_text(path, "judgement", LARGEST_FILE))
        except ValidationError:
            raise EvaluationError(
                f"{path} is no judgement. Remove it, and the section is judged anew."
            ) from None
        if kept.shown == shown:
            return kept.figures
    figures = judge_summaries(judge, systems, votes, run.section.text)
    if figures.discarded < figures.votes:
        write_whole(path, _JUDGEMENT.dump_json(KeptJudgement(shown, figures)).decode())
    return figures


def table_report(
    corwa: Path,
    anthology: Path,
    out: Path,
    writer: str,
    samples: int,
    sections: int | None,
    judge_id: str,
    votes: int = VOTES,
) -> Figures:
    """Run the experiment, or what is left of it in the folder `out`, and return its figures.

    "sections" counts those that all systems finished, of "gold"; figures are over these. Raises
    EvaluationError, CorpusError, SourceError and AssistantError.
    """
    settings = read_settings()
    judge = open_judge(judge_id, settings) if judge_id else None
    encoder = open_encoder(settings)
    rows = table_rows(writer, samples, settings, encoder)
    say("Looking up the references of all sections in the Anthology.")
    gold = read_gold_sections(corwa, anthology)[:sections]
    papers = GoldPapers(gold)
    say(f"Indexing the {len(papers)} references of {len(gold)} sections.")
    home = settings.model_copy(update={"home": out})
    build_collection(home, encoder, papers, lambda _: None)
    corpus = Corpus.open(home.corpus_path, encoder)
    runs = tuple(Experiment(corpus, encoder, rows, out / "summaries").run(gold))
    titles = {row.name: row.title for row in rows}
    problems = [
        f"{titles[name]} failed on section {run.section.key}. {problem}"
        for run in runs
        for name, problem in run.failed.items()
    ]
    finished = [run for run in runs if not run.failed]
    if not finished:
        raise EvaluationError(f"No section was finished by all systems. {problems[0]}")
    judged: dict[str, JudgeFigures] = {}
    for number, run in enumerate(finished if judge else (), start=1):
        assert judge
        say(f"Section {number} of {len(finished)}: judged by {judge.model.label}.")
        try:
            marks = judged_section(run, judge, votes, out)
        except EvaluationError as error:
            problems.append(f"Section {run.section.key} was not judged. {error}")
            continue
        if marks.discarded < marks.votes:
            judged[run.section.key] = marks
        problems += [f"Section {run.section.key}, a vote discarded: {one}" for one in marks.problems]
    # The encoder that the weights were trained with, whatever the corpus has.
    tagger = SentenceTagger(tag_weights().chain(), SentenceEncoder())
    printed = (*printed_rows("chatcite-summaries"), *printed_rows("chatcite-ablations"))
    return {
        "writer": writer,
        "judge": judge_id,
        "gold": len(gold),
        "references": sum(len(section.papers) for section in gold),
        "sections": len(finished),
        "judged": len(judged),
        "rows": {row.name: _row_figures(row, runs, judged, tagger) for row in rows},
        "problems": problems,
        # Of arXiv 2403.02574, on other papers by GPT-4.
        "printed": {
            f"printed: {row.system}": [row.figures.get(name) for name in _QUALITY] for row in printed
        },
    }


def _row_figures(
    row: TableRow, runs: Sequence[SectionRun], judged: Mapping[str, JudgeFigures], tagger: SentenceTagger
) -> Figures:
    """Return a system's means and deviations over the sections that all systems have finished.

    "failed" counts the sections that it failed on, "covered" is the share of the papers that it cites. Calls
    and tokens are of one section, with those reused from another row; None where a server counts no tokens.
    """
    finished = [] if row.not_applicable else [run for run in runs if not run.failed]
    comparisons = [run.systems[row.name].comparison for run in finished]
    found = [measure_summary(run.systems[row.name], tagger, run.section.text) for run in finished]
    marks = [] if row.not_applicable else [one.systems[row.name].overall for one in judged.values()]
    rouges = {name: spread([one["rouge"][name] for one in found if one["rouge"]]) for name in ROUGE}
    return {
        "title": row.title,
        "failed": sum(row.name in run.failed for run in runs),
        "rouge": rouges if found else None,
        "citation_recall": spread([one["citation_recall"] for one in found]),
        "citation_precision": spread([one["citation_precision"] for one in found]),
        "covered": spread([one["papers_covered"] / one["papers"] for one in found]),
        "comparative": spread([one["comparative"] for one in found]),
        "words": spread([one["words"] for one in found]),
        "g_score": spread(marks),
        "calls": spread([len(comparison.calls) for comparison in comparisons]),
        "tokens": spread([_tokens(comparison) for comparison in comparisons]),
        "not_applicable": row.not_applicable,
    }


def _tokens(comparison: Comparison) -> int | None:
    usage = comparison.usage
    if None in (usage.prompt_tokens, usage.completion_tokens) and comparison.calls:
        return None
    return (usage.prompt_tokens or 0) + (usage.completion_tokens or 0)


def spread(numbers: Sequence[float | None]) -> dict[str, float] | None:
    """Return mean and standard deviation of the numbers that are not None, None where there are none."""
    known = [number for number in numbers if number is not None]
    return {"mean": statistics.fmean(known), "deviation": statistics.pstdev(known)} if known else None


_QUALITY = ("ROUGE-1", "ROUGE-2", "ROUGE-L", "G-Score")
_OTHER = {
    "Rec.": ("citation_recall", 2),
    "Prec.": ("citation_precision", 2),
    "Cov.": ("covered", 2),
    "Comp.": ("comparative", 2),
    "Words": ("words", 0),
    "Calls": ("calls", 1),
    "Tokens": ("tokens", 0),
}


def experiment_tables(report: Figures) -> list[Table]:
    """Return the table of quality beside the paper's figures, and that of what else was measured."""

    def shown(one: dict[str, float] | None) -> str:
        return f"{one['mean']:.2f} ± {one['deviation']:.2f}" if one else ""

    applicable = [row for row in report["rows"].values() if not row["not_applicable"]]
    quality: list[Sequence[str] | None] = [
        (row["title"], "not applicable")
        if row["not_applicable"]
        else (row["title"], *(shown(row["rouge"][name]) for name in ROUGE), shown(row["g_score"]))
        for row in report["rows"].values()
    ]
    quality.append(None)
    quality += [(name, *(decimals(one, 2) for one in own)) for name, own in report["printed"].items()]
    other = [
        (
            row["title"],
            *(decimals(row[name]["mean"] if row[name] else None, places) for name, places in _OTHER.values()),
            str(row["failed"]),
        )
        for row in applicable
    ]
    title = (
        f"{report['sections']} of {counted(report['gold'], 'gold section')} finished by all systems,"
        f" {report['references']} references, writer {report['writer']}"
    )
    notes = [
        "Means ± standard deviations over sections. No reflection is the incremental baseline too. Printed:"
        " arXiv 2403.02574, on other papers, with another judge; zero-shot and LitLLM with GPT-4."
    ]
    if report["judge"]:
        notes.append(f"G-Score by {report['judge']} on {counted(report['judged'], 'section')}.")
    if report["judge"] == report["writer"]:
        notes.append("The judge is the writer: models favour their own texts.")
    reasons: dict[str, list[str]] = {}
    for row in report["rows"].values():
        reasons.setdefault(row["not_applicable"], []).append(row["title"])
    notes += [f"{'; '.join(titles)}: {reason}" for reason, titles in reasons.items() if reason]
    tables = [
        table(("System", *_QUALITY), quality, title=title, caption="\n".join((*notes, *report["problems"]))),
        table(("System", *_OTHER, "Failed"), other),
    ]
    for one in tables:
        one.columns[0].no_wrap = True
    return tables
