"""A small copy of the Anthology, and related-work sections that cite its papers as CORWA's do."""

import json
import pkgutil
from pathlib import Path

# Authors, title and abstract; all of 2018.
PAPERS = (
    (
        ("Lovelace", "Noether", "Turing"),
        "Dense Retrieval with a Small Encoder",
        "We study dense retrieval with a small encoder. It finds 71 percent of the answers.",
    ),
    (
        ("Hopper", "Liskov"),
        "Ranking Passages by Their Words",
        "This paper ranks passages by their words. It is quick, but it misses paraphrases.",
    ),
    (
        ("Hamilton",),
        "Joining Word Search and Dense Search",
        "We join word search and dense search in one ranking. The fusion is better than both.",
    ),
    (
        ("Lee", "Bartik", "Clarke"),
        "Answers with Citations",
        "We let a model write answers with citations. Half of the citations do not hold.",
    ),
    (
        ("Lee", "Easley", "Goldberg"),
        "Parsing Sentences into Trees",
        "We parse sentences into trees from left to right. A beam makes the trees better.",
    ),
    (("Perlman",), "Refusing Questions about Retrieval", ""),
)
SECTIONS = (
    (
        ("Retrieval has a long history.", "Transition"),
        (
            "Lovelace et al. (2018) show that dense retrieval with a small encoder finds the answers.",
            "Single_summ",
        ),
        ("They need no index of words at all.", "Single_summ"),
        ("Ranking passages by their words is quick (Hopper and Liskov, 2018) .", "Narrative_cite"),
        (
            "Hamilton (2018) joins word search and dense search, and the fusion of both rankings is better.",
            "Single_summ",
        ),
        ("Perlman (2018) refuses questions about retrieval.", "Single_summ"),
        ("We do neither.", "Reflection"),
    ),
    (
        ("A small encoder is enough for dense retrieval (Lovelace et al., 2018) .", "Narrative_cite"),
        ("Word search joined with dense search is better than both (Hamilton, 2018) .", "Narrative_cite"),
        (
            "Lee et al. (2018) let a model write answers with citations and find that half do not hold.",
            "Single_summ",
        ),
        ("Their readers could not tell which.", "Single_summ"),
    ),
    (("Only Lovelace et al. (2018) study dense retrieval with a small encoder.", "Single_summ"),),
)


def write_anthology(data: Path) -> Path:
    """Write a data directory of the Anthology with one volume of all papers."""
    (data / "xml").mkdir(parents=True)
    (data / "xml" / "schema.rnc").write_bytes(pkgutil.get_data("acl_anthology", "data/schema.rnc") or b"")
    papers = "".join(_entry(number, *paper) for number, paper in enumerate(PAPERS, start=1))
    (data / "xml" / "2018.trail.xml").write_text(
        '<?xml version="1.0" encoding="UTF-8"?><collection id="2018.trail">'
        '<volume id="main" type="proceedings">'
        "<meta><booktitle>Trails</booktitle><publisher>Nobody</publisher><year>2018</year>"
        "<venue>trail</venue></meta><frontmatter><bibkey>front</bibkey></frontmatter>"
        f"{papers}</volume></collection>",
        encoding="utf-8",
    )
    return data


def _entry(number: int, families: tuple[str, ...], title: str, abstract: str) -> str:
    authors = "".join(f"<author><first>A</first><last>{family}</last></author>" for family in families)
    told = f"<abstract>{abstract}</abstract>" if abstract else ""
    return f'<paper id="{number}"><title>{title}</title>{authors}{told}<bibkey>b{number}</bibkey></paper>'


def write_corwa(file: Path, sections: tuple = SECTIONS) -> Path:
    lines = [
        {
            "s2_paper_id": str(number),
            "paragraphs": [{"sentences": [text for text, _ in section], "tags": [tag for _, tag in section]}],
        }
        for number, section in enumerate(sections, start=1)
    ]
    file.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return file
