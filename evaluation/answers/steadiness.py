"""Measures answers to questions generated from a corpus: refusals, wordings, highlights, and all of these.

No person judges the answers. A corpus with the demonstration and 2022.acl-long has written questions for
refusals. For other corpora, questions are made from phrases of a paper's title or approach, and put to the
paper's collection (answerable) and to the least similar collection (to be refused). `data/wordings.toml` has
the templates of the other questions.
"""

import tempfile
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from itertools import combinations
from pathlib import Path
from statistics import fmean

import numpy as np
from pydantic import BaseModel

from assistant.chat import Assistant
from assistant.questions.phrases import is_complete, phrases
from assistant.records import Turn
from corpus import VERSION
from corpus.encoder_choice import open_encoder
from corpus.errors import CorpusError
from corpus.measured import MeasuredCorpus, Share, write_measured
from corpus.records import AspectName, Collection, Paper, Scope, parse_topic_key, passage_id
from corpus.settings import Settings, read_settings
from corpus.store.corpus import Corpus
from corpus.store.manifest import read_manifest
from evaluation.answers.asking import AskedQuestion, ask, open_assistant
from evaluation.harness import Figures, Report, command, figures_table, mean, table
from evaluation.input_files import DATA, EvaluationError, home_folder, read_json_lines
from evaluation.known_items import measure_known_items, system_name
from indexer.build.run import build_collection
from indexer.sources.folder import Folder

QUESTIONS = Path(__file__).parent / "data" / "refusal.json"
MADE_PER_DIRECTION = 20
# Questions that ask for a list use topics of this many papers: fewer make no list, more are too general.
FEWEST_SHARING, MOST_SHARING = 4, 25
SHORTEST_SAME = 40  # common letters and digits from which two sentences count as the same
SEED = 1
_HIGHLIGHTED = Collection(id="highlighted", title="Highlighted papers", source="Folder")
_LINE = "Each line is a JSON object with id, title, split, source and highlights, by part of the paper."
# Kinds of queries of `known-items`, with their names on the About page.
_LOOKED_FOR = {
    "title": "papers found first by their titles",
    "three rare title words": "papers found first by three words of their titles",
    "three rare title words, one typo": "the same with a typo",
    "system name": "papers found first by the name they begin with",
    "author": "papers of an author found first by the full name",
}


class _Written(BaseModel, frozen=True, extra="forbid"):
    """The file of questions written to be answered or refused, with the collections that they are put to."""

    class Question(BaseModel, frozen=True, extra="forbid"):
        question: str
        asked_of: str
        answerable: bool
        part: str

    collections: dict[str, tuple[str, ...]]
    questions: tuple[Question, ...]


@dataclass(frozen=True, slots=True)
class Case:
    """A question, the collections that it is put to, and whether they can answer it."""

    question: str
    collections: tuple[str, ...]
    answerable: bool
    direction: str
    part: str = ""


def measure_refusal(path: Path, *, made: bool = False) -> Figures:
    """Measure refusal on a corpus; with `made`, on generated questions even if there are written ones.

    Raises EvaluationError and CorpusError.
    """
    assistant = open_assistant(path)
    written = () if made else written_cases(assistant.corpus.collection_ids())
    judged = [
        (case, ask(assistant, case.question, (), Scope(collections=case.collections)).is_refused)
        for case in written or made_cases(assistant.corpus)
    ]

    def counts(attribute: str) -> Figures:
        names = dict.fromkeys(getattr(case, attribute) for case, _ in judged)
        return {
            name: _count_refused([row for row in judged if getattr(row[0], attribute) == name])
            for name in filter(None, names)
        }

    total = _count_refused(judged)
    return {
        "questions": "written" if written else "made",
        "refusal_recall": total["refused_unanswerable"] / max(1, total["unanswerable"]),
        "false_refusals": total["refused_answerable"] / max(1, total["answerable"]),
        "counts": total,
        "directions": counts("direction"),
        "parts": counts("part"),
        "wrong": [
            f"{case.question} ({case.direction})"
            for case, is_refused in judged
            if is_refused == case.answerable
        ],
    }


def _count_refused(judged: Sequence[tuple[Case, bool]]) -> dict[str, int]:
    counts: dict[str, int] = {}
    for kind, is_answerable in (("answerable", True), ("unanswerable", False)):
        refused = [is_refused for case, is_refused in judged if case.answerable == is_answerable]
        counts |= {kind: len(refused), f"refused_{kind}": sum(refused)}
    return counts


def written_cases(collections: Sequence[str]) -> tuple[Case, ...]:
    """Read the written questions; none unless the corpus has all their collections."""
    written = _Written.model_validate_json(QUESTIONS.read_text(encoding="utf-8"))
    if not {name for group in written.collections.values() for name in group} <= set(collections):
        return ()
    directions = {True: "answerable by", False: "asked in vain of"}
    return tuple(
        Case(
            row.question,
            written.collections[row.asked_of],
            row.answerable,
            f"{directions[row.answerable]} {row.asked_of}",
            row.part,
        )
        for row in written.questions
    )


def made_cases(corpus: Corpus) -> Iterator[Case]:
    """Yield questions made from papers of the two least similar collections; raises EvaluationError.

    Questions to the other collection are not checked by a person: some may be answerable.
    """
    first, second = _far_apart(corpus)
    for own, other in ((first, second), (second, first)):
        papers = corpus.papers(Scope(collections=(own,)))
        # Evenly spaced over the collection.
        sample = papers[:: max(1, len(papers) // MADE_PER_DIRECTION)]
        made = (_question(paper, ask_title=number % 2 == 0) for number, paper in enumerate(sample))
        for question in list(dict.fromkeys(filter(None, made)))[:MADE_PER_DIRECTION]:
            yield Case(question, (own,), answerable=True, direction=f"{own} of itself")
            yield Case(question, (other,), answerable=False, direction=f"{own} of {other}")


def _question(paper: Paper, *, ask_title: bool) -> str:
    """Make a question that a paper answers from its title or its approach; "" if they have no phrase."""
    approach = next((aspect.text for aspect in paper.aspects if aspect.name == "approach"), "")
    text = paper.title if ask_title or not approach else approach
    named = [phrase.text for phrase in phrases(text) if is_complete(phrase) and " " in phrase.text.strip()]
    if len(named) < 2:
        return f"What is known about {named[0]}?" if named else ""
    return f"What is the role of {named[0]} in {named[-1]}?"


def _far_apart(corpus: Corpus) -> tuple[str, str]:
    """Find the two collections whose papers' mean vectors have the lowest cosine."""
    collections = corpus.collection_ids()
    if len(collections) < 2:
        raise EvaluationError(
            f"Questions that cannot be answered need two collections; the corpus has {len(collections)}."
        )
    means = []
    for collection in collections:
        papers = corpus.papers(Scope(collections=(collection,)), limit=200)
        vectors = corpus.vectors([passage_id(paper.id, 0) for paper in papers])
        mean_vector = np.asarray(list(vectors.values())).mean(axis=0)
        means.append(mean_vector / (np.linalg.norm(mean_vector) or 1.0))
    cosines = np.stack(means) @ np.stack(means).T
    first, second = np.unravel_index(int(np.argmin(cosines)), cosines.shape)
    return collections[int(first)], collections[int(second)]


@command("refusal")
def refusal(corpus: Path, *, made: bool = False) -> Report:
    figures = measure_refusal(corpus, made=made)
    origin = "written for the purpose" if figures["questions"] == "written" else "made from the papers"
    shares = f"refusal recall {figures['refusal_recall']:.3f}, false refusals {figures['false_refusals']:.3f}"
    rows = [
        (f"{name}, {kind}" if name in figures["parts"] else name, counts[kind], counts[f"refused_{kind}"])
        for name, counts in {**figures["directions"], **figures["parts"]}.items()
        for kind in ("answerable", "unanswerable")
        if counts[kind]
    ]
    rows += [(f"Wrong: {question}", "", "") for question in figures["wrong"]]
    title = f"Questions {origin}: {shares}"
    return Report(figures, [table(("Questions", "Asked", "Refused"), rows, title=title)])


class _Attribute(BaseModel, frozen=True, extra="forbid"):
    question: str
    said: tuple[str, ...]


class QuestionTemplates(BaseModel, frozen=True, extra="forbid"):
    """The templates of questions by their purpose."""

    which_papers: tuple[str, ...]
    one_paper: tuple[str, ...]
    highlights: dict[AspectName, tuple[str, ...]]
    near_misses: dict[str, _Attribute]


@cache
def question_templates() -> QuestionTemplates:
    return QuestionTemplates.model_validate(
        tomllib.loads((DATA / "wordings.toml").read_text(encoding="utf-8"))
    )


def measure_wordings(home: Path, most: int) -> Figures:
    """Measure shares 0..1 and their totals on at most `most` topics, full texts and named systems.

    "same_papers" is the mean Jaccard index of the papers cited for two wordings of a question on a topic.
    Raises CorpusError, and EvaluationError if no question can be made.
    """
    assistant = open_assistant(home)
    corpus = assistant.corpus
    counts = corpus.statistics.topic_counts().items()
    topics = [parse_topic_key(key)[1] for key, n in counts if FEWEST_SHARING <= n <= MOST_SHARING][:most]
    full_texts = [paper for paper in corpus.papers() if len(corpus.passages(paper.id)) > 1][:most]
    near_misses = [*_near_misses(corpus, most)]
    if not topics and not full_texts and not near_misses:
        raise EvaluationError("The corpus has no topic that papers share, no full text and no named system.")
    worded = [
        [ask(assistant, form.format(topic)) for form in question_templates().which_papers] for topic in topics
    ]
    answered = [asked for group in worded for asked in group if not asked.is_refused and asked.retrieved]
    refusals = {
        question: [ask(assistant, question, (), Scope(papers=(paper.id,))).is_refused for paper in full_texts]
        for question in question_templates().one_paper
    }
    is_miss_refused = {question: ask(assistant, question).is_refused for question in near_misses}
    return {
        "topics": len(topics),
        "same_papers": mean(map(_agreement, worded)) or 0.0,
        "best_cited": mean(asked.retrieved[0] in _cited(asked) for asked in answered) or 0.0,
        "full_texts": len(full_texts),
        "one_paper_refused": mean(is_refused for each in refusals.values() for is_refused in each) or 0.0,
        "refused": {question: sum(each) for question, each in refusals.items()},
        "near_misses": len(near_misses),
        "near_misses_refused": mean(is_miss_refused.values()) or 0.0,
        "answered": [question for question in near_misses if not is_miss_refused[question]],
    }


def _cited(asked: AskedQuestion) -> frozenset[str]:
    sentences = asked.turn.answer.sentences
    return frozenset(
        citation.passage_id.rpartition("#")[0] for sentence in sentences for citation in sentence.citations
    )


def _agreement(worded: Sequence[AskedQuestion]) -> float:
    """Return the mean Jaccard index of the papers cited by two answers; 1 if both cite none."""
    pairs = combinations(map(_cited, worded), 2)
    return fmean(len(left & right) / len(left | right) if left | right else 1.0 for left, right in pairs)


def _near_misses(corpus: Corpus, most: int) -> Iterator[str]:
    """Yield questions on at most `most` systems for an attribute that the system's paper does not mention."""
    named = [(name, paper) for paper in corpus.papers() if (name := system_name(paper.title))]
    for name, paper in named[:most]:
        text = " ".join(passage.text for passage in corpus.passages(paper.id)).lower()
        for attribute in question_templates().near_misses.values():
            if not any(word in text for word in attribute.said):
                yield attribute.question.format(name)


@command("wordings")
def wordings(corpus: Path, most: int = 30) -> Report:
    figures = measure_wordings(corpus, most)
    topics, papers = f"{figures['topics']} topics", f"{figures['full_texts']} full texts"
    asked = f"{figures['near_misses']} questions"
    rows = [
        ("the same papers in other words", topics, f"{figures['same_papers']:.3f}"),
        ("the paper found first is cited", topics, f"{figures['best_cited']:.3f}"),
        ("of one paper, refused", papers, f"{figures['one_paper_refused']:.3f}"),
        *((f"  {question}", papers, count) for question, count in figures["refused"].items()),
        ("near misses, refused", asked, f"{figures['near_misses_refused']:.3f}"),
    ]
    return Report(figures, [table(("Asked", "Of", "Share"), rows)])


class _Record(BaseModel):
    """The sentences of a paper by part (`source`), and for each aspect and part the highlights: 1 or 0."""

    id: str
    title: str
    split: str = ""
    source: dict[str, list[str]]
    highlights: Mapping[AspectName, Mapping[str, Sequence[int]]]

    def highlighted(self, aspect: AspectName) -> list[str]:
        return [
            _letters(sentence)
            for part, marks in self.highlights.get(aspect, {}).items()
            for sentence, mark in zip(self.source.get(part, []), marks, strict=False)
            if mark
        ]


def _index_records(records: Sequence[_Record], home: Path) -> Assistant:
    papers = home / "papers"
    papers.mkdir()
    for record in records:
        parts = (f"## {part.capitalize()}\n\n{' '.join(texts)}\n" for part, texts in record.source.items())
        (papers / f"{record.id}.md").write_text("\n".join((f"# {record.title}\n", *parts)), encoding="utf-8")
    settings = Settings(home=home)
    source = Folder(papers, _HIGHLIGHTED, (".md",))
    build_collection(settings, open_encoder(settings), source, lambda _: None)
    return open_assistant(home)


def _highlight_figures(assistant: Assistant, records: Sequence[_Record], aspect: AspectName) -> Figures:
    """Compute the share of answers whose first cited sentence is highlighted, in all and by wording."""
    firsts: dict[str, list[bool]] = {}
    refused = 0
    for record in records:
        if highlighted := record.highlighted(aspect):
            for wording in question_templates().highlights[aspect]:
                asked = ask(assistant, wording, (), Scope(papers=(f"{_HIGHLIGHTED.id}/{record.id}",)))
                first = _first_cited(asked.turn)
                is_highlighted = any(_are_same(first, sentence) for sentence in highlighted)
                firsts.setdefault(wording, []).append(is_highlighted)
                refused += asked.is_refused
    every = [is_highlighted for outcomes in firsts.values() for is_highlighted in outcomes]
    shares = [fmean(outcomes) for outcomes in firsts.values()]
    return {
        "questions": len(every),
        "first": fmean(every) if every else 0.0,
        "worst": min(shares, default=0.0),
        "best": max(shares, default=0.0),
        "refused": refused,
    }


def _first_cited(turn: Turn) -> str:
    """Return the letters and digits of the first sentence that an answer cites."""
    passages = {passage.id: passage for paper in turn.evidence.papers for passage in paper.passages}
    for citation in (citation for sentence in turn.answer.sentences[:1] for citation in sentence.citations):
        if citation.passage_id in passages and citation.sentence is not None:
            return _letters(passages[citation.passage_id].sentence_text(citation.sentence))
    return ""


def _are_same(left: str, right: str) -> bool:
    """Return True if one sentence begins within the other, as when two programs split a text differently."""
    if min(len(left), len(right)) < SHORTEST_SAME:
        return bool(left) and left == right
    return left[:SHORTEST_SAME] in right or right[:SHORTEST_SAME] in left


def _letters(text: str) -> str:
    return "".join(character for character in text.lower() if character.isalnum())


@command("highlights")
def highlights(data: Path, split: str = "") -> Report:
    records = [row for row in read_json_lines(data, _Record, _LINE) if split in ("", row.split)]
    if not records:
        raise EvaluationError(f"{data} has no paper of the split {split!r}.")
    with tempfile.TemporaryDirectory() as home:
        assistant = _index_records(records, Path(home))
        figures: dict[str, Figures] = {
            aspect: _highlight_figures(assistant, records, aspect)
            for aspect in question_templates().highlights
        }
    columns = {"questions": "Questions", "first": "Highlighted first"}
    columns |= {"worst": "Worst wording", "best": "Best wording", "refused": "Refused"}
    return Report(figures, [figures_table("Asked for", figures, columns)])


@command("corpus")
def corpus(home: Path | None = None, most: int = 100) -> Report:
    """Measure a corpus with at most `most` questions of each kind, and store the figures in its home."""
    folder = home_folder(home) if home else read_settings().home
    settings = read_settings().model_copy(update={"home": folder})
    manifest = read_manifest(settings.corpus_path)
    shares: list[Share] = []
    left_out: list[str] = []
    measures: tuple[Callable[[], Iterator[Share]], ...] = (
        lambda: _known_item_shares(measure_known_items(folder, most, SEED)),
        lambda: _refusal_shares(measure_refusal(folder)),
        lambda: _wording_shares(measure_wordings(folder, most)),
    )
    for measure in measures:
        try:
            shares += measure()
        except EvaluationError as error:
            left_out.append(str(error))
    if not shares:
        raise EvaluationError(" ".join(left_out))
    if read_manifest(settings.corpus_path) != manifest:
        raise CorpusError("The corpus changed while it was measured. Measure it again.")
    measured = MeasuredCorpus(
        shares=tuple(shares),
        versions=dict(manifest.versions),
        encoder_sha256=manifest.encoder_sha256,
        date=datetime.now(UTC).date().isoformat(),
        product=f"Paper Trail {VERSION}",
        # Without the home, which is a local path.
        command=f"paper-trail eval corpus --most {most}",
    )
    write_measured(settings.measured_path, measured)
    rows = [(share.counted, f"{share.share:.3f}", f"{share.of:,}") for share in shares]
    figures = {"measured": measured, "left_out": left_out}
    return Report(figures, [table(("Share of", "", "of"), rows, caption="\n".join(left_out))])


def _known_item_shares(figures: Mapping[str, Figures]) -> Iterator[Share]:
    for kind, counted in _LOOKED_FOR.items():
        if kind_figures := figures.get(kind):
            yield Share(counted, kind_figures["first"], kind_figures["queries"])


def _refusal_shares(figures: Figures) -> Iterator[Share]:
    counts = figures["counts"]
    if of := counts["unanswerable"]:
        yield Share("questions to other papers refused", figures["refusal_recall"], of)
    if of := counts["answerable"]:
        counted = "questions that these papers answer refused"
        yield Share(counted, figures["false_refusals"], of, is_good=False)


def _wording_shares(figures: Figures) -> Iterator[Share]:
    if of := figures["topics"]:
        yield Share("papers cited alike when asked in other words", figures["same_papers"], of)
        yield Share("answers that cite the paper found first", figures["best_cited"], of)
    if of := figures["near_misses"]:
        counted = "questions about what is never said of a system refused"
        yield Share(counted, figures["near_misses_refused"], of)
