"""The demonstration collection that comes with the product."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from corpus.records import Author, Collection, Paper, Reference, paper_id
from indexer.sources.protocol import SourcePaper

DEMO = Path(__file__).resolve().parents[2] / "corpus" / "demo"


class DemoVolume:
    """One volume of the demonstration collection: metadata and PDFs from the product's own folder."""

    def __init__(self, collection: Collection, papers: list[dict[str, Any]]) -> None:
        self.collection = collection
        self._papers = papers

    def __len__(self) -> int:
        return len(self._papers)

    def papers(self) -> Iterator[SourcePaper]:
        for position, entry in enumerate(self._papers):
            yield SourcePaper(
                entry["key"], self._paper(entry, position), DEMO / entry["file"], _references(entry)
            )

    def _paper(self, entry: dict[str, Any], position: int) -> Paper:
        return Paper(
            id=paper_id(self.collection.id, entry["key"]),
            collection_id=self.collection.id,
            title=entry["title"],
            authors=tuple(Author("", name) for name in entry["authors"]),
            year=entry["year"],
            venue=self.collection.title,
            abstract=entry["abstract"],
            keywords=tuple(entry["keywords"]),
            source=self.collection.source,
            position=position,
        )


def demo_volumes() -> list[DemoVolume]:
    """Return the volumes of the demonstration collection."""
    listed = json.loads((DEMO / "papers.json").read_text(encoding="utf-8"))
    return [
        DemoVolume(
            Collection(**volume, source="Demonstration"),
            [entry for entry in listed["papers"] if entry["collection"] == volume["id"]],
        )
        for volume in listed["collections"]
    ]


def _references(entry: dict[str, Any]) -> tuple[Reference, ...]:
    return tuple(
        Reference(
            text=f"{item['authors'] if isinstance(item['authors'], str) else ', '.join(item['authors'])}. "
            f"{item['title']}. {item['venue']}, {item['year']}.",
            title=item["title"],
            authors=tuple([item["authors"]] if isinstance(item["authors"], str) else item["authors"]),
            year=item["year"],
        )
        for item in entry["references"]
    )
