"""The experiment run: every system on every gold section, each kept as soon as it is done."""

import hashlib
import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from assistant.comparing import CallLedger, Compared, Comparer, Comparison, ComparisonError, ComparisonRequest
from assistant.records import AssistantError
from assistant.trail import comparison_from_json, comparison_to_json
from corpus.durable import replace_durably
from corpus.encoders import Encoder
from corpus.settings import Settings
from corpus.store import Corpus
from evaluation.input_files import EvaluationError, read_text
from evaluation.judging import Judge, JudgeFigures
from evaluation.summaries.experiment.gold import GoldPapers, GoldSection
from evaluation.summaries.experiment.systems import TableRow
from evaluation.summaries.judge import judge_summaries
from evaluation.summaries.summary import System
from indexer.build import build_collection

LARGEST_FILE = 256 * 2**20
Say = Callable[[str], None]
_NOT_IN_A_NAME = re.compile(r"[^A-Za-z0-9.-]")


@dataclass(frozen=True, slots=True)
class SectionRun:
    """What the systems came to on a section, by their names; `failed` says of the others why they did not."""

    section: GoldSection
    systems: Mapping[str, System]
    failed: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class KeptJudgement:
    """The marks of a section, and a hash of what the judge was shown."""

    shown: str
    figures: JudgeFigures


_JUDGEMENT = TypeAdapter(KeptJudgement)


def build_gold_corpus(
    sections: Sequence[GoldSection], settings: Settings, encoder: Encoder, say: Say
) -> Corpus:
    """Return the corpus of the sections' references; raises CorpusError and SourceError."""
    papers = GoldPapers(sections)
    say(f"Indexing the {len(papers)} references of {len(sections)} sections.")
    build_collection(settings, encoder, papers, lambda _: None)
    return Corpus.open(settings.corpus_path, encoder)


@dataclass(frozen=True, slots=True)
class Experiment:
    """Runs systems over a corpus; what a run before has finished in the `folder` is not run again."""

    corpus: Corpus
    encoder: Encoder
    rows: Sequence[TableRow]
    folder: Path
    say: Say

    def run(self, sections: Sequence[GoldSection]) -> Iterator[SectionRun]:
        """Yield the sections as they are done; raises EvaluationError where kept files are of others."""
        for number, section in enumerate(sections, start=1):
            systems: dict[str, System] = {}
            failed: dict[str, str] = {}
            for row in self.rows:
                if row.not_applicable:
                    continue
                place = f"Section {number} of {len(sections)}, {row.title}"
                try:
                    systems[row.name] = System(row.name, self._summary(section, row, systems, place))
                except AssistantError as error:
                    failed[row.name] = str(error)
                    self.say(f"{place}: failed. {error}")
            yield SectionRun(section, systems, failed)

    def _summary(
        self, section: GoldSection, row: TableRow, systems: Mapping[str, System], place: str
    ) -> Comparison:
        assert row.generator is not None
        path = self.folder / file_name(row.name, row.generator.name) / f"{section.key}.json"
        request = ComparisonRequest(section.paper_ids, section.about, row.options)
        if path.is_file():
            self.say(f"{place}: done before.")
            return _kept(path, request, row.generator.name)
        self.say(f"{place}: running.")
        whole = systems.get("chatcite")
        known = whole.comparison.calls if whole and row.options.without else ()
        comparer = Comparer(self.corpus, self.encoder, row.generator)
        comparison = _compared(comparer, request, CallLedger(known))
        write_whole(path, comparison_to_json(comparison))
        return comparison


def judged_section(
    run: SectionRun, systems: Sequence[System], judge: Judge, votes: int, folder: Path
) -> JudgeFigures:
    """Return the judge's marks of a section's systems, kept ones where it was shown the same.

    Raises EvaluationError where they cannot be judged together. Where no vote counts nothing is kept.
    """
    texts = [run.section.text, str(votes), *(part for one in systems for part in (one.name, one.text))]
    shown = hashlib.sha256("\x00".join(texts).encode()).hexdigest()
    path = folder / file_name("judged", judge.model.id) / f"{run.section.key}.json"
    if (kept := _kept_judgement(path)) and kept.shown == shown:
        return kept.figures
    figures = judge_summaries(judge, systems, votes, run.section.text)
    if figures.discarded < figures.votes:
        write_whole(path, _JUDGEMENT.dump_json(KeptJudgement(shown, figures)).decode())
    return figures


def file_name(*parts: str) -> str:
    """Return a name for a folder, whatever characters an id has."""
    return "--".join(_NOT_IN_A_NAME.sub("-", part) for part in parts)


def write_whole(path: Path, text: str) -> None:
    """Write a file that is there whole or not at all, whenever the run is killed."""
    path.parent.mkdir(parents=True, exist_ok=True)
    # Of this process alone: another run may be at the same section.
    temporary = path.with_suffix(f".{os.getpid()}.part")
    temporary.write_text(text, encoding="utf-8")
    replace_durably(temporary, path)


def _compared(comparer: Comparer, request: ComparisonRequest, ledger: CallLedger) -> Comparison:
    """Compare; raises AssistantError, also where nothing was written."""
    *_, last = comparer.compare(request, ledger)
    if not isinstance(last, Compared) or not last.comparison.answer.text.strip():
        raise ComparisonError("It wrote nothing.")
    return last.comparison


def _kept(path: Path, request: ComparisonRequest, generator: str) -> Comparison:
    """Return a comparison that a run before has made; raises EvaluationError where it is another."""
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


def _kept_judgement(path: Path) -> KeptJudgement | None:
    if not path.is_file():
        return None
    try:
        return _JUDGEMENT.validate_json(read_text(path, "judgement", LARGEST_FILE))
    except ValidationError:
        raise EvaluationError(f"{path} is no judgement. Remove it, and the section is judged anew.") from None
