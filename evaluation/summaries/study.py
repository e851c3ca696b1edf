"""A blind study by people: its sheet and its figures (ChatCite, section 5.4; TruthReader, appendix D).

Raters mark the texts of several systems and name the one that they prefer: comparative summaries by the six
qualities of G-Score, answers by the four that judges of answers mark. The sheet is one HTML file that works
without a server; the key beside it says whose text is whose.
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
    relabelled_texts,
)

LETTERS = "ABCDEFGH"
# Raters have the papers before them, and no section that people wrote.
QUALITIES = {**DEFINITIONS, NEEDS_GOLD: "the text says what the papers say, and nothing against it."}
LARGEST_MARKS = 2**20
LEAST_PAIRS = 3  # of people's and a judge's marks, to correlate them
CORRELATIONS = {"Pearson": pearsonr, "Spearman": spearmanr, "Kendall": kendalltau}


class Sample(BaseModel):
    """The texts of a sample: the files of the comparisons in the order of their letters, by their systems."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    systems: tuple[str, ...]
    files: tuple[str, ...]


class Key(BaseModel):
    """Whose text is whose in a sheet, and what the texts are."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    study: str
    of: Literal["summaries", "answers"] = "summaries"
    dimensions: tuple[str, ...]
    samples: tuple[Sample, ...]


class Marks(BaseModel):
    """The marks that a rater saved: by `SAMPLE-LETTER-QUALITY` a mark, by `SAMPLE-best` a letter."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    study: str
    rater: Annotated[str, Field(min_length=1, max_length=60)]
    marks: dict[str, Literal["1", "2", "3", "4", "5", "A", "B", "C", "D", "E", "F", "G", "H"]]


# A text of a sample: its system, and the file that it was read from.
Named = tuple[str, Path]


@dataclass(frozen=True, slots=True)
class Shown:
    """A sample as raters see it: what was asked or described, the papers with their texts, and the texts."""

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
    chance = random.Random(seed)
    chosen = chance.sample(by_sample, min(samples, len(by_sample)))
    shuffled = [chance.sample(of_sample, len(of_sample)) for of_sample in chosen]
    name = f"{out.stem}-{seed}"
    key = Key(
        study=name,
        of="answers" if answers else "summaries",
        dimensions=tuple(ANSWER_QUALITIES if answers else QUALITIES),
        samples=tuple(
            Sample(
                systems=tuple(name for name, _ in of_sample),
                files=tuple(str(path) for _, path in of_sample),
            )
            for of_sample in shuffled
        ),
    )
    shown = [(_shown_answers if answers else _shown_summaries)(of_sample) for of_sample in shuffled]
    page = _page(title or f"Which {'answer' if answers else 'summary'} is better?", key, shown)
    key_path = out.with_suffix(".key.json")
    for path, text in ((out, page), (key_path, key.model_dump_json(indent=1) + "\n")):
        try:
            write_whole(path, text)
        except OSError as error:
            raise EvaluationError(f"{path} cannot be written: {error.strerror}.") from error
    told = {"sheet": str(out), "key": str(key_path), "samples": len(shuffled)}
    return Report(
        told, [f"The sheet is {out}. Keep {key_path} from the raters: it says whose text is whose."]
    )


def _folders(given: Sequence[str]) -> dict[str, list[Path]]:
    """Return the files of each NAME=FOLDER; raises EvaluationError."""
    folders: dict[str, list[Path]] = {}
    for option in given:
        name, equals, folder = option.partition("=")
        files = sorted(Path(folder).glob("*.json")) if equals else []
        if not name or not files:
            raise EvaluationError(f"{option!r} is no NAME=FOLDER with files (*.json) in it.")
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
            f"{file} has {counted(len(turns), 'turn')}: a sheet shows questions asked alone."
        )
    return turns[0]


def _comparisons(folders: Mapping[str, Sequence[Path]]) -> list[list[Named]]:
    """Return the comparisons of each description and papers; raises EvaluationError where none is shared."""
    found: dict[Hashable, dict[str, Named]] = defaultdict(dict)
    for name, files in folders.items():
        for file in files:
            comparison = _comparison(name, file).comparison
            found[comparison.about, frozenset(comparison.paper_ids)][name] = (name, file)
    return _shared(found, len(folders), "No description and papers are compared by all systems.")


def _questions(folders: Mapping[str, Sequence[Path]]) -> list[list[Named]]:
    """Return the answers to each question; raises EvaluationError where all systems answered none."""
    found: dict[Hashable, dict[str, Named]] = defaultdict(dict)
    for name, files in folders.items():
        for file in files:
            turn = _turn(file)
            if is_answer(turn):
                found[turn.question, turn.scope][name] = (name, file)
    return _shared(found, len(folders), "No question is answered by all systems.")


def _shared(found: Mapping[Hashable, Mapping[str, Named]], systems: int, fault: str) -> list[list[Named]]:
    shared = [list(of_sample.values()) for of_sample in found.values() if len(of_sample) == systems]
    if not shared:
        raise EvaluationError(fault)
    return shared


def _shown_summaries(of_sample: Sequence[Named]) -> Shown:
    systems = [_comparison(name, file) for name, file in of_sample]
    first = systems[0].comparison
    papers = tuple((_heading(labelled), labelled.paper.abstract) for labelled in first.evidence.papers)
    return Shown(first.about, papers, tuple(relabelled_texts(systems)))


def _shown_answers(of_sample: Sequence[Named]) -> Shown:
    turns = [_turn(file) for _, file in of_sample]
    evidence = cited_evidence(turns)
    papers = tuple(
        (_heading(labelled), "\n\n".join(passage.text for passage in labelled.passages))
        for labelled in evidence.papers
    )
    return Shown(turns[0].question, papers, tuple(relabel_answers(turns, evidence)))


def _heading(labelled: LabelledPaper) -> str:
    return f"[{labelled.label}] {as_line(labelled.paper.title)} ({labelled.paper.year or 'year unknown'})"


def _page(title: str, key: Key, samples: Sequence[Shown]) -> str:
    page = Template(Path(__file__).with_name("study.html").read_text(encoding="utf-8"))
    meanings = ANSWER_QUALITIES if key.of == "answers" else QUALITIES
    definitions = (f"<li><b>{_quality(name)}</b>: {escape(meanings[name])}</li>" for name in key.dimensions)
    drawn = (_section(number, shown, key.dimensions) for number, shown in enumerate(samples, start=1))
    return page.substitute(
        title=escape(title),
        study=escape(key.study),
        definitions="".join(definitions),
        samples="\n".join(drawn),
    )


def _section(number: int, shown: Shown, dimensions: Sequence[str]) -> str:
    papers = "".join(
        f"<li>{escape(heading)}<details><summary>What it says</summary>{escape(text)}</details></li>"
        for heading, text in shown.papers
    )
    letters = LETTERS[: len(shown.texts)]
    texts = (
        f"<article><h3>Text {letter}</h3><p class='text'>{escape(text)}</p>"
        + "".join(_choice(f"{number}-{letter}-{name}", _quality(name), "12345") for name in dimensions)
        + "</article>"
        for letter, text in zip(letters, shown.texts, strict=True)
    )
    best = _choice(f"{number}-best", "The best text", letters)
    return (
        f"<section><h2>Sample {number}</h2><p>{escape(shown.about)}</p><ul>{papers}</ul>"
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
    for path, given in zip(marks, raters, strict=True):
        if given.study != sheet.study:
            raise EvaluationError(f"{path} is of the study {given.study!r}, not {sheet.study!r}.")
        if unknown := sorted(given.marks.keys() - _fields(sheet)):
            raise EvaluationError(f"{path} marks {unknown[0]!r}, which the sheet does not ask for.")
    systems = {name: _of_system(name, sheet, raters) for name in sorted(sheet.samples[0].systems)}
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
        raise EvaluationError(f"{path} cannot be used: {place}: {first['msg']}.") from error


def _fields(key: Key) -> set[str]:
    """Return the names of all fields of a sheet."""
    fields = set()
    for number, sample in enumerate(key.samples, start=1):
        letters = LETTERS[: len(sample.systems)]
        fields |= {f"{number}-{letter}-{name}" for letter in letters for name in key.dimensions}
        fields.add(f"{number}-best")
    return fields


def _marks_of(name: str, key: Key, given: Marks, dimension: str) -> list[tuple[int, int]]:
    """Return a rater's marks of a system on a quality, each with the number of its sample."""
    found = []
    for number, sample in enumerate(key.samples, start=1):
        letter = LETTERS[sample.systems.index(name)]
        if mark := given.marks.get(f"{number}-{letter}-{dimension}"):
            found.append((number, int(mark)))
    return found


def _of_system(name: str, key: Key, raters: Sequence[Marks]) -> Figures:
    """Average a system's marks over raters and samples, and count how often it is preferred."""
    means = {
        dimension: _mean(mark for given in raters for _, mark in _marks_of(name, key, given, dimension))
        for dimension in key.dimensions
    }
    preferred = named = 0
    for given in raters:
        for number, sample in enumerate(key.samples, start=1):
            if letter := given.marks.get(f"{number}-best"):
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
    """Return the mean of all marks of each text, by its sample and system."""
    marks: dict[tuple[int, str], list[int]] = defaultdict(list)
    for given in raters:
        for name in key.samples[0].systems:
            for dimension in key.dimensions:
                for number, mark in _marks_of(name, key, given, dimension):
                    marks[number, name].append(mark)
    return {text: statistics.fmean(of_text) for text, of_text in marks.items()}


def _agreement(key: Key, raters: Sequence[Marks]) -> Figures:
    """Return Krippendorff's alpha of all marks, and how often two raters prefer the same text."""
    units = [
        [int(given.marks[field]) for given in raters if field in given.marks]
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
    """Compute Krippendorff's alpha with interval distances; None where it is not defined."""
    paired = [unit for unit in units if len(unit) > 1]
    marks = [mark for unit in paired for mark in unit]
    expected = _disagreement(marks)
    if len(paired) < 2 or not expected:
        return None
    observed = sum(len(unit) * _disagreement(unit) for unit in paired) / len(marks)
    return 1 - observed / expected


def _disagreement(marks: Sequence[int]) -> float:
    """Return the mean squared difference of all pairs of marks."""
    return 2 * statistics.variance(marks) if len(marks) > 1 else 0.0


def _g_scores(key: Key, judge: str, votes: int) -> dict[tuple[int, str], float]:
    """Have the texts of each sample marked by a judge; raises EvaluationError."""
    settings, scored = read_settings(), {}
    for number, sample in enumerate(key.samples, start=1):
        named = [(name, Path(file)) for name, file in zip(sample.systems, sample.files, strict=True)]
        if key.of == "answers":
            judged = judge_answers([f"{name}={file}" for name, file in named], judge, votes).judge
        else:
            systems = [_comparison(name, file) for name, file in named]
            judged = judge_summaries(open_judge(judge, settings), systems, votes)
        for name, own in judged.systems.items():
            if own.overall is not None:
                scored[number, name] = own.overall
    return scored


def _correlations(
    by_people: Mapping[tuple[int, str], float], by_judge: Mapping[tuple[int, str], float]
) -> dict[str, float | None]:
    """Correlate the marks of people and a judge; None where there is too little or all are the same."""
    texts = sorted(by_people.keys() & by_judge.keys())
    people, judged = [by_people[text] for text in texts], [by_judge[text] for text in texts]
    if len(texts) < LEAST_PAIRS or len(set(people)) == 1 or len(set(judged)) == 1:
        return dict.fromkeys(CORRELATIONS)
    return {name: float(measure(people, judged).statistic) for name, measure in CORRELATIONS.items()}


def _table(
    systems: Mapping[str, Figures], dimensions: Sequence[str], agreement: Figures, raters: int
) -> Table:
    rows: list[Sequence[str] | None] = [
        [_quality(name), *(decimals(own["means"][name], 2) for own in systems.values())]
        for name in dimensions
    ]
    rows += [
        None,
        ["Mean", *(decimals(own["overall"], 2) for own in systems.values())],
        ["Preferred", *(decimals(own["preferred"], 2) for own in systems.values())],
    ]
    caption = (
        f"Krippendorff's alpha of the marks {decimals(agreement['alpha'], 2, 'unknown')}; two raters prefer "
        f"the same text in {decimals(agreement['same_preference'], 2, 'an unknown share')} of the samples."
    )
    title = f"Marks 1 to 5 by {counted(raters, 'rater')}"
    return table(("Quality", *systems), rows, title=title, caption=caption)
