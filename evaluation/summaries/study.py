"""Makes and evaluates a blind study by people (ChatCite, section 5.4; TruthReader, appendix D).

Raters mark the texts of several systems and name the one that they prefer. Comparative summaries are marked
by the six qualities of G-Score, answers by the four qualities of GenGO Ultra's judge. The sheet is one HTML
file that works without a server; a key file maps its texts to systems.
"""

import random
import statistics
from collections import defaultdict
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from itertools import combinations
from pathlib import Path
from string import Template
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError
from rich.table import Table
from scipy.stats import kendalltau, pearsonr, spearmanr

from assistant.prompts.render import as_line
from assistant.records import LabelledPaper, Turn
from assistant.trail.comparison_file import comparison_from_json
from assistant.trail.transcript import from_json
from corpus.settings import read_settings
from corpus.wording import counted
from evaluation.answers.judge import DEFINITIONS as ANSWER_QUALITIES
from evaluation.answers.judge import cited_evidence, is_answer, judge_answers, relabel_answers
from evaluation.harness import Figures, Report, command, decimals, say, table
from evaluation.input_files import EvaluationError, read_text, read_trail
from evaluation.judging import open_judge
from evaluation.reply_cache import write_whole
from evaluation.summaries.summary import (
    DEFINITIONS,
    NEEDS_GOLD,
    VOTES,
    System,
    judge_summaries,
    relabel_texts,
)

LETTERS = "ABCDEFGH"
# Unlike a judge, raters see the papers, and no section that people wrote.
QUALITIES = {**DEFINITIONS, NEEDS_GOLD: "the text says what the papers say, and nothing against it."}
LARGEST_MARKS = 2**20
LEAST_PAIRS = 3  # the fewest texts with marks of people and judge to correlate
CORRELATIONS = {"Pearson": pearsonr, "Spearman": spearmanr, "Kendall": kendalltau}


class Sample(BaseModel):
    """The texts of a sample in the order of their letters: their systems and their files."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    systems: tuple[str, ...]
    files: tuple[str, ...]


class Key(BaseModel):
    """The system of each text of a sheet, and the kind of texts (`of`)."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    study: str
    of: Literal["summaries", "answers"] = "summaries"
    dimensions: tuple[str, ...]
    samples: tuple[Sample, ...]


class Marks(BaseModel):
    """A rater's saved marks: `SAMPLE-LETTER-QUALITY` has a mark, `SAMPLE-best` a letter."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    study: str
    rater: Annotated[str, Field(min_length=1, max_length=60)]
    marks: dict[str, Literal["1", "2", "3", "4", "5", "A", "B", "C", "D", "E", "F", "G", "H"]]


# A text of a sample: its system and its file.
SystemFile = tuple[str, Path]


@dataclass(frozen=True, slots=True)
class SheetSample:
    """A sample as raters see it: question or description, papers with their texts, and texts to mark."""

    about: str
    papers: tuple[tuple[str, str], ...]
    texts: tuple[str, ...]


@command("study-sheet")
def study_sheet(
    system: list[str],
    out: Path,
    samples: int = 10,
    seed: int = 0,
    title: str = "",
    *,
    answers: bool = False,
) -> Report:
    folders = _folders(system)
    by_sample = _questions(folders) if answers else _comparisons(folders)
    if len(by_sample) < samples:
        say(f"The systems share {counted(len(by_sample), 'sample')}; all are in the sheet.")
    generator = random.Random(seed)
    chosen = generator.sample(by_sample, min(samples, len(by_sample)))
    shuffled = [generator.sample(sample, len(sample)) for sample in chosen]
    name = f"{out.stem}-{seed}"
    key = Key(
        study=name,
        of="answers" if answers else "summaries",
        dimensions=tuple(ANSWER_QUALITIES if answers else QUALITIES),
        samples=tuple(
            Sample(
                systems=tuple(name for name, _ in sample),
                files=tuple(str(path) for _, path in sample),
            )
            for sample in shuffled
        ),
    )
    samples_shown = [(_answers_sample if answers else _summaries_sample)(sample) for sample in shuffled]
    page = _page(title or f"Which {'answer' if answers else 'summary'} is better?", key, samples_shown)
    key_path = out.with_suffix(".key.json")
    for path, text in ((out, page), (key_path, key.model_dump_json(indent=1) + "\n")):
        try:
            write_whole(path, text)
        except OSError as error:
            raise EvaluationError(f"{path} cannot be written: {error.strerror}.") from error
    figures = {"sheet": str(out), "key": str(key_path), "samples": len(shuffled)}
    return Report(
        figures, [f"The sheet is {out}. Keep {key_path} from the raters: it says whose text is whose."]
    )


def _folders(options: Sequence[str]) -> dict[str, list[Path]]:
    """Return the files of each NAME=FOLDER by name; raises EvaluationError."""
    folders: dict[str, list[Path]] = {}
    for option in options:
        name, equals, folder = option.partition("=")
        files = sorted(Path(folder).glob("*.json")) if equals else []
        if not name or not files:
            raise EvaluationError(f"{option!r} is not NAME=FOLDER of a folder with *.json files.")
        folders[name] = files
    if not 2 <= len(folders) <= len(LETTERS):
        raise EvaluationError(f"Name two to {len(LETTERS)} systems: --system NAME=FOLDER, repeated.")
    return folders


def _comparison(name: str, file: Path) -> System:
    return System(name, read_trail(file, "comparison", comparison_from_json))


def _turn(file: Path) -> Turn:
    turns = read_trail(file, "trail", from_json).turns
    if len(turns) != 1:
        raise EvaluationError(
            f"{file} has {counted(len(turns), 'turn')}: a sheet only takes conversations of one turn."
        )
    return turns[0]


def _comparisons(folders: Mapping[str, Sequence[Path]]) -> list[list[SystemFile]]:
    """Group comparisons by description and papers; raises EvaluationError if all systems share none."""
    groups: dict[Hashable, dict[str, SystemFile]] = defaultdict(dict)
    for name, files in folders.items():
        for file in files:
            comparison = _comparison(name, file).comparison
            groups[comparison.about, frozenset(comparison.paper_ids)][name] = (name, file)
    return _shared(groups, len(folders), "No description and papers are compared by all systems.")


def _questions(folders: Mapping[str, Sequence[Path]]) -> list[list[SystemFile]]:
    """Group answers by question; raises EvaluationError if all systems share none."""
    groups: dict[Hashable, dict[str, SystemFile]] = defaultdict(dict)
    for name, files in folders.items():
        for file in files:
            turn = _turn(file)
            if is_answer(turn):
                groups[turn.question, turn.scope][name] = (name, file)
    return _shared(groups, len(folders), "No question is answered by all systems.")


def _shared(
    groups: Mapping[Hashable, Mapping[str, SystemFile]], systems: int, fault: str
) -> list[list[SystemFile]]:
    shared = [list(files.values()) for files in groups.values() if len(files) == systems]
    if not shared:
        raise EvaluationError(fault)
    return shared


def _summaries_sample(files: Sequence[SystemFile]) -> SheetSample:
    systems = [_comparison(name, file) for name, file in files]
    first = systems[0].comparison
    papers = tuple((_heading(labelled), labelled.paper.abstract) for labelled in first.evidence.papers)
    return SheetSample(first.about, papers, tuple(relabel_texts(systems)))


def _answers_sample(files: Sequence[SystemFile]) -> SheetSample:
    turns = [_turn(file) for _, file in files]
    evidence = cited_evidence(turns)
    papers = tuple(
        (_heading(labelled), "\n\n".join(passage.text for passage in labelled.passages))
        for labelled in evidence.papers
    )
    return SheetSample(turns[0].question, papers, tuple(relabel_answers(turns, evidence)))


def _heading(labelled: LabelledPaper) -> str:
    return f"[{labelled.label}] {as_line(labelled.paper.title)} ({labelled.paper.year or 'year unknown'})"


def _page(title: str, key: Key, samples: Sequence[SheetSample]) -> str:
    page = Template(Path(__file__).with_name("study.html").read_text(encoding="utf-8"))
    meanings = ANSWER_QUALITIES if key.of == "answers" else QUALITIES
    definitions = (f"<li><b>{_quality(name)}</b>: {escape(meanings[name])}</li>" for name in key.dimensions)
    sections = (_section(number, sample, key.dimensions) for number, sample in enumerate(samples, start=1))
    return page.substitute(
        title=escape(title),
        study=escape(key.study),
        definitions="".join(definitions),
        samples="\n".join(sections),
    )


def _section(number: int, sample: SheetSample, dimensions: Sequence[str]) -> str:
    papers = "".join(
        f"<li>{escape(heading)}<details><summary>What it says</summary>{escape(text)}</details></li>"
        for heading, text in sample.papers
    )
    letters = LETTERS[: len(sample.texts)]
    texts = (
        f"<article><h3>Text {letter}</h3><p class='text'>{escape(text)}</p>"
        + "".join(_choice(f"{number}-{letter}-{name}", _quality(name), "12345") for name in dimensions)
        + "</article>"
        for letter, text in zip(letters, sample.texts, strict=True)
    )
    best = _choice(f"{number}-best", "The best text", letters)
    return (
        f"<section><h2>Sample {number}</h2><p>{escape(sample.about)}</p><ul>{papers}</ul>"
        f"{''.join(texts)}{best}</section>"
    )


def _choice(name: str, legend: str, values: str) -> str:
    fields = "".join(
        f"<label><input type='radio' name='{name}' value='{value}'> {value}</label>" for value in values
    )
    return f"<fieldset><legend>{legend}</legend>{fields}</fieldset>"


def _quality(name: str) -> str:
    return name.replace("_", " ").capitalize()


@command("study")
def study(key: Path, marks: list[Path], judge: str = "", votes: int = VOTES) -> Report:
    sheet = _read(key, Key)
    raters = [_read(path, Marks) for path in marks]
    for path, rater in zip(marks, raters, strict=True):
        if rater.study != sheet.study:
            raise EvaluationError(f"{path} is of the study {rater.study!r}, not {sheet.study!r}.")
        if unknown := sorted(rater.marks.keys() - _fields(sheet)):
            raise EvaluationError(f"{path} marks {unknown[0]!r}, which the sheet does not ask for.")
    systems = {name: _system_figures(name, sheet, raters) for name in sorted(sheet.samples[0].systems)}
    agreement = _agreement(sheet, raters)
    tables = [_table(systems, sheet.dimensions, agreement, len(raters))]
    scored = _g_scores(sheet, judge, votes) if judge else {}
    correlations = _correlations(_overall(sheet, raters), scored)
    if judge:
        rows = [(name, decimals(value, 2)) for name, value in correlations.items()]
        tables.append(table(("Agreement with the marks of", judge), rows))
    return Report({"raters": len(raters), "systems": systems, **agreement, "g_score": correlations}, tables)


def _read(path: Path, schema: type[Any]) -> Any:
    try:
        return TypeAdapter(schema).validate_json(read_text(path, "file of marks", LARGEST_MARKS))
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"])) or "it"
        raise EvaluationError(f"{path} is not valid: {place}: {first['msg']}.") from error


def _fields(key: Key) -> set[str]:
    """Return the names of all fields of a sheet."""
    fields = set()
    for number, sample in enumerate(key.samples, start=1):
        letters = LETTERS[: len(sample.systems)]
        fields |= {f"{number}-{letter}-{name}" for letter in letters for name in key.dimensions}
        fields.add(f"{number}-best")
    return fields


def _marks_of(name: str, key: Key, rater: Marks, dimension: str) -> list[tuple[int, int]]:
    """Return a rater's marks of a system in a dimension, as (number of sample, mark)."""
    marks = []
    for number, sample in enumerate(key.samples, start=1):
        letter = LETTERS[sample.systems.index(name)]
        if mark := rater.marks.get(f"{number}-{letter}-{dimension}"):
            marks.append((number, int(mark)))
    return marks


def _system_figures(name: str, key: Key, raters: Sequence[Marks]) -> Figures:
    """Average a system's marks over raters and samples, and compute how often it is preferred."""
    means = {
        dimension: _mean(mark for rater in raters for _, mark in _marks_of(name, key, rater, dimension))
        for dimension in key.dimensions
    }
    preferred = named = 0
    for rater in raters:
        for number, sample in enumerate(key.samples, start=1):
            if letter := rater.marks.get(f"{number}-best"):
                named += 1
                preferred += sample.systems[LETTERS.index(letter)] == name
    return {
        "means": means,
        "overall": _mean(mean for mean in means.values() if mean is not None),
        "preferred": preferred / named if named else None,
    }


def _mean(values: Iterable[float]) -> float | None:
    known = list(values)
    return statistics.fmean(known) if known else None


def _overall(key: Key, raters: Sequence[Marks]) -> dict[tuple[int, str], float]:
    """Return the mean of all marks of each text by (number of sample, system)."""
    marks: dict[tuple[int, str], list[int]] = defaultdict(list)
    for rater in raters:
        for name in key.samples[0].systems:
            for dimension in key.dimensions:
                for number, mark in _marks_of(name, key, rater, dimension):
                    marks[number, name].append(mark)
    return {text: statistics.fmean(text_marks) for text, text_marks in marks.items()}


def _agreement(key: Key, raters: Sequence[Marks]) -> Figures:
    """Return Krippendorff's alpha of all marks, and the share of pairs of raters who prefer the same text."""
    units = [
        [int(rater.marks[field]) for rater in raters if field in rater.marks]
        for field in sorted(_fields(key))
        if not field.endswith("-best")
    ]
    same = [
        first.marks[field] == second.marks[field]
        for field in (f"{number}-best" for number in range(1, len(key.samples) + 1))
        for first, second in combinations(raters, 2)
        if field in first.marks and field in second.marks
    ]
    return {"alpha": alpha(units), "same_preference": _mean(map(float, same))}


def alpha(units: Sequence[Sequence[int]]) -> float | None:
    """Compute Krippendorff's alpha with interval distances; None if it is not defined."""
    paired = [unit for unit in units if len(unit) > 1]
    marks = [mark for unit in paired for mark in unit]
    expected = _disagreement(marks)
    if len(paired) < 2 or not expected:
        return None
    observed = sum(len(unit) * _disagreement(unit) for unit in paired) / len(marks)
    return 1 - observed / expected


def _disagreement(marks: Sequence[int]) -> float:
    """Return the mean squared difference over all pairs of marks."""
    return 2 * statistics.variance(marks) if len(marks) > 1 else 0.0


def _g_scores(key: Key, judge: str, votes: int) -> dict[tuple[int, str], float]:
    """Have a judge mark the texts of each sample; return the G-Score by (number of sample, system).

    Raises EvaluationError.
    """
    settings, scored = read_settings(), {}
    for number, sample in enumerate(key.samples, start=1):
        system_files = [(name, Path(file)) for name, file in zip(sample.systems, sample.files, strict=True)]
        if key.of == "answers":
            judged = judge_answers([f"{name}={file}" for name, file in system_files], judge, votes).judge
        else:
            systems = [_comparison(name, file) for name, file in system_files]
            judged = judge_summaries(open_judge(judge, settings), systems, votes)
        for name, system in judged.systems.items():
            if system.overall is not None:
                scored[number, name] = system.overall
    return scored


def _correlations(
    by_people: Mapping[tuple[int, str], float], by_judge: Mapping[tuple[int, str], float]
) -> dict[str, float | None]:
    """Correlate the marks of people and a judge; None for too few texts or constant marks."""
    texts = sorted(by_people.keys() & by_judge.keys())
    people, judged = [by_people[text] for text in texts], [by_judge[text] for text in texts]
    if len(texts) < LEAST_PAIRS or len(set(people)) == 1 or len(set(judged)) == 1:
        return dict.fromkeys(CORRELATIONS)
    return {name: float(measure(people, judged).statistic) for name, measure in CORRELATIONS.items()}


def _table(
    systems: Mapping[str, Figures], dimensions: Sequence[str], agreement: Figures, raters: int
) -> Table:
    rows: list[Sequence[str] | None] = [
        [_quality(name), *(decimals(figures["means"][name], 2) for figures in systems.values())]
        for name in dimensions
    ]
    rows += [
        None,
        ["Mean", *(decimals(figures["overall"], 2) for figures in systems.values())],
        ["Preferred", *(decimals(figures["preferred"], 2) for figures in systems.values())],
    ]
    caption = (
        f"Krippendorff's alpha of the marks {decimals(agreement['alpha'], 2, 'unknown')}; two raters prefer "
        f"the same text in {decimals(agreement['same_preference'], 2, 'an unknown share')} of the samples."
    )
    title = f"Marks 1 to 5 by {counted(raters, 'rater')}"
    return table(("Quality", *systems), rows, title=title, caption=caption)
