"""What can be measured of any corpus without labels: what is found, refused, and the same in other words."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from rich.box import SIMPLE_HEAD
from rich.markup import escape
from rich.table import Column, Table

from corpus import VERSION
from corpus.errors import CorpusError
from corpus.measured import MeasuredCorpus, Share, write_measured
from corpus.settings import read_settings
from corpus.store import read_manifest
from evaluation.answers.refusal import RefusalFigures, measure_refusal
from evaluation.answers.wordings import WordingFigures, measure_wordings
from evaluation.input_files import EvaluationError, home_of
from evaluation.known_items import KindFigures, measure_known_items

SEED = 1
# By the kinds of `known-items`: what readers are told was looked for.
_LOOKED_FOR = {
    "title": "papers found first by their titles",
    "three rare title words": "papers found first by three words of their titles",
    "three rare title words, one typo": "the same with a typo",
    "system name": "papers found first by the name they begin with",
    "author": "papers of an author found first by the full name",
}


@dataclass(frozen=True, slots=True)
class CorpusReport:
    """The shares that could be measured, and why others could not."""

    measured: MeasuredCorpus
    left_out: tuple[str, ...]


def measure_corpus(home: Path | None, most: int, command: str) -> CorpusReport:
    """Measure a corpus and keep the figures in its home; raises CorpusError, EvaluationError if nothing can.

    Of each kind `most` queries, topics and names are asked at most.
    """
    folder = home_of(home) if home else read_settings().home
    settings = read_settings().model_copy(update={"home": folder})
    manifest = read_manifest(settings.corpus_path)
    shares: list[Share] = []
    left_out: list[str] = []
    for measure in (_found, _refused, _worded):
        try:
            shares += measure(folder, most)
        except EvaluationError as error:
            left_out.append(str(error))
    if not shares:
        raise EvaluationError(" ".join(left_out))
    if read_manifest(settings.corpus_path) != manifest:
        raise CorpusError("The corpus has changed while it was measured. Measure it again.")
    measured = MeasuredCorpus(
        shares=tuple(shares),
        versions=dict(manifest.versions),
        encoder_sha256=manifest.encoder_sha256,
        date=datetime.now(UTC).date().isoformat(),
        product=f"Paper Trail {VERSION}",
        command=command,
    )
    write_measured(settings.measured_path, measured)
    return CorpusReport(measured, tuple(left_out))


def corpus_table(report: CorpusReport) -> Table:
    """Return what people read."""
    table = Table("Share of", Column("", justify="right"), Column("of", justify="right"), box=SIMPLE_HEAD)
    for one in report.measured.shares:
        table.add_row(escape(one.counted), f"{one.share:.3f}", f"{one.of:,}")
    table.caption = escape("\n".join(report.left_out))
    return table


def _found(home: Path, most: int) -> Iterator[Share]:
    found: dict[str, KindFigures] = measure_known_items(home, most, SEED)
    for kind, counted in _LOOKED_FOR.items():
        if figures := found.get(kind):
            yield Share(counted, figures["first"], figures["queries"])


def _refused(home: Path, most: int) -> Iterator[Share]:  # noqa: ARG001
    figures: RefusalFigures = measure_refusal(home)
    counts = figures["counts"]
    if counts["unanswerable"]:
        what = "questions to other papers refused"
        yield Share(what, figures["refusal_recall"], counts["unanswerable"])
    if counts["answerable"]:
        what = "questions that these papers answer refused"
        yield Share(what, figures["false_refusals"], counts["answerable"], is_good=False)


def _worded(home: Path, most: int) -> Iterator[Share]:
    figures: WordingFigures = measure_wordings(home, most)
    if figures["topics"]:
        yield Share("papers cited alike when asked in other words", figures["same_papers"], figures["topics"])
        yield Share("answers that cite the paper found first", figures["best_cited"], figures["topics"])
    if figures["near_misses"]:
        what = "questions about what is never said of a system refused"
        yield Share(what, figures["near_misses_refused"], figures["near_misses"])
