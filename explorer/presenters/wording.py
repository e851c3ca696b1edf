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
# From here on it is said how much is left of what may be spent.
MOSTLY_SPENT = 0.8
LONGEST_MENU_TITLE = 64


def affiliations(authors: tuple[Author, ...]) -> str:
    """Return where the authors work, each place once; "" where it is not known."""
    places = dict.fromkeys(one_line(place) for author in authors for place in author.affiliations)
    named = [shortened(place, 90) for place in places if place]
    more = len(named) - AFFILIATIONS_NAMED
    return " · ".join(named[:AFFILIATIONS_NAMED]) + (f" and {more:,} more" if more > 0 else "")


def ordered_aspects(aspects: tuple[Aspect, ...]) -> tuple[Aspect, ...]:
    """Return a paper's aspects in the order in which they are read."""
    order = list(ASPECT_NAMES)
    return tuple(sorted(aspects, key=lambda aspect: order.index(aspect.name)))


def format_years(years: tuple[int, int]) -> str:
    """Return "2021", "2019 to 2022"."""
    return str(years[0]) if years[0] == years[1] else f"{years[0]} to {years[1]}"


def short_reference(paper: Paper) -> str:
    """Return a paper as a line of a reference list begins: title, authors, year."""
    by = authors_and_year(paper)
    return one_line(f"{paper.title} ({by})" if by else paper.title)


def authors_and_year(paper: Paper, between: str = ", ") -> str:
    """Return who wrote a paper and when, as far as it is known; not yet safe for Markdown."""
    return between.join(filter(None, (short_authors(paper.authors), str(paper.year or ""))))


def full_reference(paper: Paper) -> str:
    """Return a paper as plain text for a list of references."""
    parts = (all_authors(paper.authors), str(paper.year or ""), paper.title, paper.venue, paper.url)
    return one_line(". ".join(part.rstrip(".") for part in parts if part))


def answer_with_references(turn: Turn) -> str:
    """Return an answer as plain text, with the papers it cites below it."""
    return text_with_references(turn.question, turn.answer, turn.evidence)


def text_with_references(heading: str, answer: Answer, evidence: Evidence) -> str:
    """Return a checked text as it is copied, under a heading and with the papers it cites below it."""
    lines = [heading, "", answer.text.strip(), "", "References"]
    for label in answer.cited_labels:
        if labelled := evidence.paper(label):
            lines.append(f"[{label}] {full_reference(labelled.paper)}")
    return "\n".join(lines)


def collection_facts(summaries: tuple[CollectionSummary, ...]) -> str:
    """Return in one line what some collections hold: papers, years, full texts, last build."""
    papers = sum(one.papers for one in summaries)
    full = sum(one.full_texts for one in summaries)
    first = min((one.first_year for one in summaries if one.first_year), default=None)
    last = max((one.last_year for one in summaries if one.last_year), default=None)
    facts = [counted(papers, "paper")]
    if first and last:
        facts.append(format_years((first, last)))
    facts.append("titles and abstracts" if not full else f"{counted(full, 'full text')}")
    if built := max((one.built for one in summaries), default=""):
        facts.append(f"built {day(built)}")
    return " · ".join(facts)


def collection_titles(summaries: tuple[CollectionSummary, ...]) -> dict[str, str]:
    """Return the titles of collections by their ids; those that share a title are told apart by id."""
    titles = {one.collection.id: one_line(one.collection.title) for one in summaries}
    given = Counter(titles.values())
    return {key: title if given[title] == 1 else f"{title} ({key})" for key, title in titles.items()}


def menu_title(title: str) -> str:
    """Return a collection's title for a menu: of a long one the end is kept too, where volumes differ."""
    if len(title) <= LONGEST_MENU_TITLE:
        return title
    start, end = title[: LONGEST_MENU_TITLE // 2], title[-LONGEST_MENU_TITLE // 2 :]
    return f"{start.rpartition(' ')[0] or start} … {end.partition(' ')[2] or end}"


def day(moment: str) -> str:
    """Return an ISO 8601 moment as "21 November 2026", or as it is when it is none."""
    try:
        read = datetime.fromisoformat(moment).astimezone(UTC)
    except ValueError:
        return moment
    return f"{read.day} {read:%B %Y}"


def seconds(time: float) -> str:
    return f"{time:.1f} s"


def searched_for(rewrite: Rewrite) -> str:
    """Return, as Markdown, what was searched for; the question is not said twice."""
    terms = "".join(
        f", {escaped(shortened(short, 20))} as “{escaped(shortened(long, 60))}”"
        for short, long in rewrite.abbreviations
    )
    if rewrite.searched_for == rewrite.question:
        return f"Searched for the question as it stands{terms}"
    own = ", your own search query" if rewrite.edited else ""
    own += f", translated from {language_name(rewrite.language)}" if rewrite.language else ""
    return f"Searched for “{escaped(shortened(rewrite.searched_for, 160))}”{own}{terms}"


def searched_again(second: SecondSearch) -> str:
    """Return, as Markdown, the query of a second search and the part of the question it was made for."""
    query, part = (escaped(shortened(text, 160)) for text in (second.query, second.part))
    result = "" if second.joined else " Nothing it found answers that."
    again = "searched for it again" if second.query == second.part else f"searched again for “{query}”"
    return f"The part “{part}” was left open: {again}.{result}"


def format_kind(rewrite: Rewrite) -> str:
    """Return the name of the kind of answer a question was taken to ask for."""
    return f"kind: {KIND_NAMES[rewrite.kind].lower()}"


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
        facts.append(format_years((summary.first_year, summary.last_year)))
    if summary.full_texts:
        facts.append(counted(summary.full_texts, "full text"))
    return " · ".join(facts)


def format_spending(balances: Sequence[Balance]) -> str:
    """Describe the rest of the nearest spending limit, "" while most of each is left."""
    spent = [one for one in balances if one.spent >= MOSTLY_SPENT * one.limit]
    if not spent:
        return ""
    nearest = min(spent, key=lambda one: one.limit - one.spent)
    whose = "all visitors together may spend" if nearest.is_everyones else "you may spend"
    left = nearest.limit - nearest.spent
    what = f"{format_price(left)} is left" if left > 0 else "nothing is left"
    return (
        f"Of the {format_price(nearest.limit)} that {whose} on models in a month, {what} until "
        f"{nearest.begins_anew}. The writer without a model costs nothing."
    )


def _year(summary: CollectionSummary) -> int:
    return summary.last_year or summary.collection.year or 0
