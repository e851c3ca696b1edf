"""A blind study of comparative summaries by people (ChatCite, section 5.4): its sheet and its figures.

Raters mark the texts of several systems on the six qualities of G-Score and name the one that they prefer.
The sheet is one HTML file that works without a server; the key beside it says whose text is whose.
"""

import random
import statistics
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import combinations
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple

from jinja2 import Environment, FileSystemLoader
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError
from rich.table import Table
from scipy.stats import kendalltau, pearsonr, spearmanr

from assistant.prompts.render import as_line
from assistant.trail.comparison_file import comparison_from_json
from corpus.settings import read_settings
from corpus.wording import counted
from evaluation.harness import Figures, Report, command, decimals, mean, say, table
from evaluation.input_files import EvaluationError, first_fault, read_text, read_trail
from evaluation.judging import open_judge, quality_name
from evaluation.kept import keep_file
from evaluation.summaries.summary import (
    DEFINITIONS,
    DIMENSIONS,
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
LEAST_PAIRS = 3  # of marks and G-Scores, to correlate them
CORRELATIONS = {"Pearson": pearsonr, "Spearman": spearmanr, "Kendall": kendalltau}
# A text by the number of its sample and its system.
Text = tuple[int, str]


class _Strict(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Sample(_Strict):
    """The texts of a sample: the files of the comparisons in the order of their letters, by their systems."""

    systems: tuple[str, ...]
    files: tuple[str, ...]

    @property
    def letters(self) -> dict[str, str]:
        """The systems by their letters."""
        return dict(zip(LETTERS, self.systems, strict=False))


class Key(_Strict):
    """Whose text is whose in a sheet."""

    study: str
    dimensions: tuple[str, ...]
    samples: tuple[Sample, ...]

    def questions(self) -> Iterator[tuple[str, Text, str]]:
        """Yield each field that asks for a mark, the text that it is about, and the quality."""
        for number, sample in enumerate(self.samples, start=1):
            for letter, system in sample.letters.items():
                for name in self.dimensions:
                    yield f"{number}-{letter}-{name}", (number, system), name

    def choices(self) -> Iterator[tuple[str, Mapping[str, str]]]:
        """Yield each field that asks for the best text, and the systems by their letters."""
        for number, sample in enumerate(self.samples, start=1):
            yield f"{number}-best", sample.letters


class Marks(_Strict):
    """The marks that a rater saved: by `SAMPLE-LETTER-QUALITY` a mark, by `SAMPLE-best` a letter."""

    study: str
    rater: Annotated[str, Field(min_length=1, max_length=60)]
    marks: dict[str, Literal["1", "2", "3", "4", "5", "A", "B", "C", "D", "E", "F", "G", "H"]]


@command("study-sheet")
def study_sheet(system: list[str], out: Path, samples: int = 10, seed: int = 0, title: str = "") -> Report:
    by_sample = _samples(_read_systems(system))
    if len(by_sample) < samples:
        say(f"The systems share {counted(len(by_sample), 'sample')}; all are in the sheet.")
    chance = random.Random(seed)
    chosen = chance.sample(by_sample, min(samples, len(by_sample)))
    shuffled = [chance.sample(of_sample, len(of_sample)) for of_sample in chosen]
    key = Key(
        study=f"{out.stem}-{seed}",
        dimensions=DIMENSIONS,
        samples=tuple(
            Sample(
                systems=tuple(own.name for own, _ in of_sample),
                files=tuple(str(path) for _, path in of_sample),
            )
            for of_sample in shuffled
        ),
    )
    systems = [[own for own, _ in of_sample] for of_sample in shuffled]
    key_path = out.with_suffix(".key.json")
    keep_file(out, _page(title or "Which summary is better?", key, systems))
    keep_file(key_path, key.model_dump_json(indent=1) + "\n")
    told = {"sheet": str(out), "key": str(key_path), "samples": len(shuffled)}
    return Report(
        told, [f"The sheet is {out}. Keep {key_path} from the raters: it says whose text is whose."]
    )


def _read_system(name: str, file: Path) -> System:
    return System(name, read_trail(file, "comparison", comparison_from_json))


def _read_systems(given: Sequence[str]) -> dict[str, list[tuple[System, Path]]]:
    """Read the comparisons of each NAME=FOLDER; raises EvaluationError."""
    systems: dict[str, list[tuple[System, Path]]] = {}
    for option in given:
        name, equals, folder = option.partition("=")
        files = sorted(Path(folder).glob("*.json")) if equals else []
        if not name or not files:
            raise EvaluationError(f"{option!r} is no NAME=FOLDER with comparisons (*.json) in it.")
        systems[name] = [(_read_system(name, file), file) for file in files]
    if not 2 <= len(systems) <= len(LETTERS):
        raise EvaluationError(f"Name two to {len(LETTERS)} systems: --system NAME=FOLDER, repeated.")
    return systems


def _samples(systems: Mapping[str, Sequence[tuple[System, Path]]]) -> list[list[tuple[System, Path]]]:
    """Return the texts of each sample that all systems have; raises EvaluationError where there is none."""
    found: dict[tuple[str, frozenset[str]], dict[str, tuple[System, Path]]] = defaultdict(dict)
    for name, written in systems.items():
        for own, file in written:
            found[own.comparison.about, frozenset(own.comparison.paper_ids)][name] = (own, file)
    shared = [list(of_sample.values()) for of_sample in found.values() if len(of_sample) == len(systems)]
    if not shared:
        raise EvaluationError("No description and papers are compared by all systems.")
    return shared


def _page(title: str, key: Key, samples: Sequence[Sequence[System]]) -> str:
    drawn = []
    for number, systems in enumerate(samples, start=1):
        first = systems[0].comparison
        papers = [
            (labelled.label, as_line(labelled.paper.title), labelled.paper.year, labelled.paper.abstract)
            for labelled in first.evidence.papers
        ]
        texts = dict(zip(LETTERS, relabelled_texts(systems), strict=False))
        drawn.append((number, first.about, papers, texts))
    environment = Environment(loader=FileSystemLoader(Path(__file__).parent), autoescape=True)
    return environment.get_template("study.html").render(
        title=title, key=key, qualities=QUALITIES, quality=quality_name, samples=drawn
    )


class Mark(NamedTuple):
    """A mark of a rater, and the text and the quality that it is for."""

    field: str
    text: Text
    quality: str
    mark: int


@command("study")
def study(key: Path, marks: list[Path], judge: str = "", votes: int = VOTES) -> Report:
    sheet: Key = _read(key, Key)
    raters: list[Marks] = [_read(path, Marks) for path in marks]
    fields = {field for field, *_ in (*sheet.questions(), *sheet.choices())}
    for path, given in zip(marks, raters, strict=True):
        if given.study != sheet.study:
            raise EvaluationError(f"{path} is of the study {given.study!r}, not {sheet.study!r}.")
        if unknown := sorted(given.marks.keys() - fields):
            raise EvaluationError(f"{path} marks {unknown[0]!r}, which the sheet does not ask for.")
    every = [
        Mark(field, text, name, int(given.marks[field]))
        for field, text, name in sheet.questions()
        for given in raters
        if field in given.marks
    ]
    # Of each sample, the systems that raters prefer.
    best = [
        [letters[given.marks[field]] for given in raters if field in given.marks]
        for field, letters in sheet.choices()
    ]
    names = sorted(sheet.samples[0].systems)
    systems = {name: _of_system(name, sheet.dimensions, every, best) for name in names}
    pairs = [first == second for of_sample in best for first, second in combinations(of_sample, 2)]
    agreement = {"alpha": alpha(_grouped(every, lambda mark: mark.field)), "same_preference": mean(pairs)}
    tables = [_table(systems, sheet.dimensions, agreement, len(raters))]
    scored = _g_scores(sheet, judge, votes) if judge else {}
    by_text = {mark.text: [own.mark for own in every if own.text == mark.text] for mark in every}
    means = {text: statistics.fmean(own) for text, own in by_text.items()}
    correlations = _correlations(means, scored)
    if judge:
        rows = [(name, decimals(value, 2)) for name, value in correlations.items()]
        tables.append(table(("Agreement with G-Score", judge), rows))
    return Report({"raters": len(raters), "systems": systems, **agreement, "g_score": correlations}, tables)


def _read(path: Path, schema: type[Any]) -> Any:
    try:
        return TypeAdapter(schema).validate_json(read_text(path, "file of marks", LARGEST_MARKS))
    except ValidationError as error:
        raise EvaluationError(f"{path} cannot be used: {first_fault(error, 'it')}.") from error


def _grouped(marks: Sequence[Mark], group: Callable[[Mark], str]) -> list[list[int]]:
    found: dict[str, list[int]] = defaultdict(list)
    for mark in marks:
        found[group(mark)].append(mark.mark)
    return list(found.values())


def _of_system(
    name: str, dimensions: Sequence[str], marks: Sequence[Mark], best: Sequence[Sequence[str]]
) -> Figures:
    """Average a system's marks over raters and samples, and count how often it is preferred."""
    own = [mark for mark in marks if mark.text[1] == name]
    means = {quality: mean(mark.mark for mark in own if mark.quality == quality) for quality in dimensions}
    preferred = mean(system == name for of_sample in best for system in of_sample)
    return {"means": means, "overall": mean(means.values()), "preferred": preferred}


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


def _g_scores(key: Key, judge: str, votes: int) -> dict[Text, float]:
    """Have the texts of each sample marked by a judge; raises EvaluationError."""
    opened = open_judge(judge, read_settings())
    scored = {}
    for number, sample in enumerate(key.samples, start=1):
        files = zip(sample.systems, map(Path, sample.files), strict=True)
        systems = [_read_system(name, file) for name, file in files]
        for name, own in judge_summaries(opened, systems, votes).systems.items():
            if own.overall is not None:
                scored[number, name] = own.overall
    return scored


def _correlations(by_people: Mapping[Text, float], by_judge: Mapping[Text, float]) -> dict[str, float | None]:
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
        [quality_name(name), *(decimals(own["means"][name], 2) for own in systems.values())]
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
