"""Collections as volumes: by their years, the newest first, the largest of a year first. No Streamlit."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

from corpus.records import CollectionSummary
from explorer.parts.wording import counted, years_said


@dataclass(frozen=True, slots=True)
class VolumeYear:
    """The volumes of a year; those that have none stand under "Without a year"."""

    name: str
    volumes: tuple[CollectionSummary, ...]

    @property
    def label(self) -> str:
        papers = sum(one.papers for one in self.volumes)
        return f"{self.name} · {counted(len(self.volumes), 'volume')}, {counted(papers, 'paper')}"


def volume_years(summaries: Sequence[CollectionSummary]) -> tuple[VolumeYear, ...]:
    """Return volumes by the year of their latest paper, the newest year first."""
    ordered = sorted(summaries, key=lambda one: (-_year(one), -one.papers, one.collection.id))
    return tuple(
        VolumeYear(str(year) if year else "Without a year", tuple(volumes))
        for year, volumes in groupby(ordered, key=_year)
    )


def volume_facts(summary: CollectionSummary, *, with_years: bool = True) -> str:
    """Return in a line what a volume holds: papers, years, full texts."""
    facts = [counted(summary.papers, "paper")]
    if with_years and summary.first_year and summary.last_year:
        facts.append(years_said((summary.first_year, summary.last_year)))
    if summary.full_texts:
        facts.append(counted(summary.full_texts, "full text"))
    return " · ".join(facts)


def _year(summary: CollectionSummary) -> int:
    return summary.last_year or summary.collection.year or 0
