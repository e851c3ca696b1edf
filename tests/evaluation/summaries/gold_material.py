"""A small copy of the Anthology, related-work sections that cite its papers, and the gold rows of these."""

import json
import pkgutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tests.evaluation.commands import write_lines

_MATERIAL = json.loads(Path(__file__).with_name("gold_material.json").read_text(encoding="utf-8"))
# Authors, title and abstract; all of 2018.
PAPERS = _MATERIAL["papers"]


def write_anthology(data: Path, papers: Sequence[Sequence[Any]] = PAPERS, volume: str = "2018.trail") -> Path:
    """Write a data directory of the Anthology with one volume of these papers; there may be others in it."""
    (data / "xml").mkdir(parents=True, exist_ok=True)
    (data / "xml" / "schema.rnc").write_bytes(pkgutil.get_data("acl_anthology", "data/schema.rnc") or b"")
    year, _, venue = volume.partition(".")
    entries = "".join(_entry(number, *paper) for number, paper in enumerate(papers, start=1))
    (data / "xml" / f"{volume}.xml").write_text(
        f'<?xml version="1.0" encoding="UTF-8"?><collection id="{volume}">'
        f'<volume id="main" type="proceedings">'
        f"<meta><booktitle>Trails</booktitle><publisher>Nobody</publisher><year>{year}</year>"
        f"<venue>{venue}</venue></meta><frontmatter><bibkey>front</bibkey></frontmatter>"
        f"{entries}</volume></collection>",
        encoding="utf-8",
    )
    return data


def _entry(number: int, families: Sequence[str], title: str, abstract: str) -> str:
    authors = "".join(f"<author><first>A</first><last>{family}</last></author>" for family in families)
    told = f"<abstract>{abstract}</abstract>" if abstract else ""
    return f'<paper id="{number}"><title>{title}</title>{authors}{told}<bibkey>b{number}</bibkey></paper>'


def write_corwa(file: Path) -> Path:
    lines = []
    for number, section in enumerate(_MATERIAL["sections"], start=1):
        texts, tags = zip(*section, strict=True)
        lines.append({"s2_paper_id": str(number), "paragraphs": [{"sentences": texts, "tags": tags}]})
    return write_lines(file, *lines)


def write_gold(file: Path) -> Path:
    """Write the rows of both sections: all sentences on the papers, which are of one volume.

    The citing paper of the first is known.
    """
    rows = [
        ("1", [1, 2, 3, 4], [1, 2, 3], "dense words encoder joining passages ranking search small", 5),
        ("2", [0, 1, 2, 3], [1, 3, 4], "dense answers citations encoder joining search small retrieval", 0),
    ]
    volume = "2018.trail-main"
    return write_lines(
        file,
        *(
            {
                "section": section,
                "sentences": [f"0:{sentence}" for sentence in sentences],
                "papers": [f"{volume}/{volume}.{paper}" for paper in papers],
                "topics": topics.split(),
                "target": f"{volume}/{volume}.{target}" if target else "",
            }
            for section, sentences, papers, topics, target in rows
        ),
    )


def write_sets(file: Path) -> Path:
    """Write a set of NudtRwG-Citation: the first reference with its body, the second with its abstract."""
    names = [[f"Ada {family}" for family in paper[0]] for paper in PAPERS]
    references = [
        {"title": title, "authors": authors, "year": 2018, "abstract": abstract}
        for authors, (_, title, abstract) in zip(names[:2], PAPERS[:2], strict=True)
    ]
    references[0]["text"] = (
        "1 Introduction\n\nReaders wait for answers.\n\n2 Results\n\nThe index has nine shards."
    )
    return write_lines(
        file,
        {
            "title": "Searching Notes",
            "text": "We search the notes of a library. " * 900,
            "related_work": "Lovelace et al. (2018) study retrieval. Hopper and Liskov (2018) rank passages.",
            "references": references,
        },
    )
