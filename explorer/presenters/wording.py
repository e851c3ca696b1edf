"""The wording of papers, counts and times for readers. No Streamlit; nothing here is escaped."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import groupby

from assistant.records import Answer, Evidence, RequestKind, Rewrite, SecondSearch, Turn
from assistant.storage.spending import Balance
from assistant.wording import format_price
from corpus.language.names import language_name
from corpus.records import Aspect, AspectName, Author, CollectionSummary, Paper
from corpus.wording import all_authors, counted, short_authors
from explorer.presenters.safe_text import escaped, one_line, shortened

ASPECT_NAMES: dict[AspectName, str] = {"challenge": "Challenge", "approach": "Approach", "outcome": "Outcome"}
KIND_NAMES: dict[RequestKind, str] = {
    "synthesis": "An overview",
    "how": "How or why",
    "summary": "One paper",
    "list": "A list of papers",
    "comparison": "A comparison",
    "definition": "A definition",
    "fact": "A fact",
}
AFFILIATIONS_NAMED = 4
# The share of a spending limit from which on the rest is shown.
MOSTLY_SPENT = 0.8
LONGEST_MENU_TITLE = 64


def affiliations(authors: tuple[Author, ...]) -> str:
    """Return the distinct affiliations of authors, "" if none are known."""
    places = dict.fromkeys(one_line(place) for author in authors for place in author.affiliations)
    named = [shortened(place, 90) for place in places if place]
    more = len(named) - AFFILIATIONS_NAMED
    return " · ".join(named[:AFFILIATIONS_NAMED]) + (f" and {more:,} more" if more > 0 else "")


def ordered_aspects(aspects: tuple[Aspect, ...]) -> tuple[Aspect, ...]:
    """Return a paper's aspects in the order of `ASPECT_NAMES`."""
    order = list(ASPECT_NAMES)
    return tuple(sorted(aspects, key=lambda aspect: order.index(aspect.name)))


def format_years(years: tuple[int, int]) -> str:
    """Return a range of years as "2021" or "2019 to 2022"."""
    return str(years[0]) if years[0] == years[1] else f"{years[0]} to {years[1]}"


def short_reference(paper: Paper) -> str:
    """Return title, authors and year of a paper on one line."""
    by = authors_and_year(paper)
    return one_line(f"{paper.title} ({by})" if by else paper.title)


def authors_and_year(paper: Paper, between: str = ", ") -> str:
    """Return the authors and year of a paper, as far as known; not yet safe for Markdown."""
    return between.join(filter(None, (short_authors(paper.authors), str(paper.year or ""))))


def answer_with_references(turn: Turn) -> str:
    """Return an answer as plain text, with the papers it cites below it."""
    return text_with_references(turn.question, turn.answer, turn.evidence)


def text_with_references(heading: str, answer: Answer, evidence: Evidence) -> str:
    """Return a checked text as plain text under a heading, with the papers it cites below it."""
    lines = [heading, "", answer.text.strip(), "", "References"]
    for label in answer.cited_labels:
        if labelled := evidence.paper(label):
            paper = labelled.paper
            parts = (all_authors(paper.authors), str(paper.year or ""), paper.title, paper.venue, paper.url)
            reference = one_line(". ".join(part.rstrip(".") for part in parts if part))
            lines.append(f"[{label}] {reference}")
    return "\n".join(lines)


def collection_facts(summaries: tuple[CollectionSummary, ...]) -> str:
    """Return the papers, years, full texts and last build of collections on one line."""
    papers = sum(summary.papers for summary in summaries)
    full = sum(summary.full_texts for summary in summaries)
    first = min((summary.first_year for summary in summaries if summary.first_year), default=None)
    last = max((summary.last_year for summary in summaries if summary.last_year), default=None)
    facts = [counted(papers, "paper")]
    if first and last:
        facts.append(format_years((first, last)))
    facts.append("titles and abstracts" if not full else f"{counted(full, 'full text')}")
    if built := max((summary.built for summary in summaries), default=""):
        facts.append(f"built {day(built)}")
    return " · ".join(facts)


def collection_titles(summaries: tuple[CollectionSummary, ...]) -> dict[str, str]:
    """Return the titles of collections by id; shared titles have the id added."""
    titles = {summary.collection.id: one_line(summary.collection.title) for summary in summaries}
    uses = Counter(titles.values())
    return {key: title if uses[title] == 1 else f"{title} ({key})" for key, title in titles.items()}


def menu_title(title: str) -> str:
    """Return a collection's title for a menu, a long one cut in the middle, as volumes differ at the end."""
    if len(title) <= LONGEST_MENU_TITLE:
        return title
    start, end = title[: LONGEST_MENU_TITLE // 2], title[-LONGEST_MENU_TITLE // 2 :]
    return f"{start.rpartition(' ')[0] or start} … {end.partition(' ')[2] or end}"


def day(moment: str) -> str:
    """Return an ISO 8601 time as "21 November 2026", unchanged if it is not valid."""
    try:
        date = datetime.fromisoformat(moment).astimezone(UTC)
    except ValueError:
        return moment
    return f"{date.day} {date:%B %Y}"


def seconds(time: float) -> str:
    return f"{time:.1f} s"


def searched_for(rewrite: Rewrite) -> str:
    """Describe the search query of a rewrite, as Markdown; a query equal to the question is not repeated."""
    terms = "".join(
        f", {escaped(shortened(short, 20))} as “{escaped(shortened(long, 60))}”"
        for short, long in rewrite.abbreviations
    )
    if rewrite.searched_for == rewrite.question:
        return f"Searched for the question as it stands{terms}"
    origin = ", your own search query" if rewrite.edited else ""
    origin += f", translated from {language_name(rewrite.language)}" if rewrite.language else ""
    return f"Searched for “{escaped(shortened(rewrite.searched_for, 160))}”{origin}{terms}"


def searched_again(second: SecondSearch) -> str:
    """Describe a second search, as Markdown: its part of the question and its query."""
    query, part = (escaped(shortened(text, 160)) for text in (second.query, second.part))
    result = "" if second.joined else " Nothing it found answers that."
    again = "searched for it again" if second.query == second.part else f"searched again for “{query}”"
    return f"The part “{part}” was left open: {again}.{result}"


def format_kind(rewrite: Rewrite) -> str:
    """Return the kind of a rewritten question in words."""
    return f"kind: {KIND_NAMES[rewrite.kind].lower()}"


@dataclass(frozen=True, slots=True)
class VolumeYear:
    """The volumes of a year, or of "Without a year"."""

    name: str
    volumes: tuple[CollectionSummary, ...]

    @property
    def label(self) -> str:
        papers = sum(volume.papers for volume in self.volumes)
        return f"{self.name} · {counted(len(self.volumes), 'volume')}, {counted(papers, 'paper')}"


def volume_years(summaries: Sequence[CollectionSummary]) -> tuple[VolumeYear, ...]:
    """Return volumes by the year of their latest paper, the newest year first."""
    ordered = sorted(summaries, key=lambda volume: (-_year(volume), -volume.papers, volume.collection.id))
    return tuple(
        VolumeYear(str(year) if year else "Without a year", tuple(volumes))
        for year, volumes in groupby(ordered, key=_year)
    )


def volume_facts(summary: CollectionSummary, *, with_years: bool = True) -> str:
    """Return the papers, years and full texts of a volume on one line."""
    facts = [counted(summary.papers, "paper")]
    if with_years and summary.first_year and summary.last_year:
        facts.append(format_years((summary.first_year, summary.last_year)))
    if summary.full_texts:
        facts.append(counted(summary.full_texts, "full text"))
    return " · ".join(facts)


def format_spending(balances: Sequence[Balance]) -> str:
    """Describe the rest of the spending limit with the least left, "" while no limit is mostly spent."""
    spent = [balance for balance in balances if balance.spent >= MOSTLY_SPENT * balance.limit]
    if not spent:
        return ""
    nearest = min(spent, key=lambda balance: balance.limit - balance.spent)
    whose = "all visitors together may spend" if nearest.is_everyones else "you may spend"
    left = nearest.limit - nearest.spent
    what = f"{format_price(left)} is left" if left > 0 else "nothing is left"
    return (
        f"Of the {format_price(nearest.limit)} that {whose} on models in a month, {what} until "
        f"{nearest.begins_anew}. The writer without a model costs nothing."
    )


def _year(summary: CollectionSummary) -> int:
    return summary.last_year or summary.collection.year or 0
