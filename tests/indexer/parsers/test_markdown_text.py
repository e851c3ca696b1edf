"""Markdown as papers are written in it: its parts, and that nothing in it can do harm."""

from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpus.records import Author, Section
from indexer.errors import ParseError
from indexer.parsers.document import Document
from indexer.parsers.registry import read_document
from indexer.parsers.text.front_matter import MOST_LISTED
from indexer.parsers.text.markdown import LONGEST_PARAGRAPH
from tests.indexer.parsers.small_tei import headings, sentences, texts

PAPER = """---
title: "On *Cats* & Dogs"
author: Ada Lovelace and Bob Stone
date: 2021-03-04
keywords: [cats, sleep]
doi: https://doi.org/10.1000/xyz
---
# On Cats & Dogs

## Abstract

We watch **cats**. They [sleep](http://example.org/a).

## 1 Introduction

Hard
wrapped text[^1] with `code`, a <b>bold</b> word and ![a picture](x.png).

<div onclick="x()">In a <script>dropped()</script>division.</div>

- One item.
- Two *items*.

| animal | sleeps |
|:-------|-------:|
| cat    | 16 h   |

### 1.1 Details

> Quoted text.

    x = 1

```python
y = "2. Two"

z = 3
```

[^1]: A note. It is short.

2 Method
--------

We count.

## References

1. A. Lovelace. 2019. On notes and engines. Journal. arXiv:1901.00001.
2. B. Stone. "A title in quotes." 2020. doi:10.1000/abc.
"""


def read(folder: Path, text: str, name: str = "paper.md") -> Document:
    (folder / name).write_text(text, encoding="utf-8")
    return read_document(folder / name)


@pytest.fixture
def document(tmp_path: Path) -> Document:
    return read(tmp_path, PAPER)


def test_front_matter_headings_abstract_and_references_become_what_they_are(document: Document) -> None:
    assert (document.title, document.year, document.doi) == ("On Cats & Dogs", 2021, "10.1000/xyz")
    assert document.authors == (Author("Ada", "Lovelace"), Author("Bob", "Stone"))
    assert document.keywords == ("cats", "sleep")
    assert (document.parser, document.notes) == ("markdown-it", ())
    assert headings(document) == ["1 Introduction", "1 Introduction > 1.1 Details", "2 Method"]
    assert document.sections[1].path == (Section("1", "Introduction"), Section("1.1", "Details"))
    assert [paragraph.text for paragraph in document.abstract] == ["We watch cats. They sleep."]
    first, second = document.references
    assert (first.title, first.year, first.arxiv_id) == ("On notes and engines", 2019, "1901.00001")
    assert (second.title, second.year, second.doi) == ("A title in quotes", 2020, "10.1000/abc")


def test_markup_is_taken_off_and_rows_code_and_notes_stand_for_themselves(document: Document) -> None:
    assert texts(document)[:4] == [
        "Hard wrapped text with code, a bold word and a picture.",
        "In a division.",
        "One item.",
        "Two items.",
    ]
    table, code = document.sections[0].paragraphs[4], document.sections[1].paragraphs[2]
    assert [row.text for row in table.sentences] == ["animal | sleeps", "cat | 16 h"]
    assert [line.text for line in code.sentences] == ['y = "2. Two"', "z = 3"]
    assert texts(document)[5:7] == ["Quoted text.", "x = 1"]
    notes = [p for section in document.sections for p in section.paragraphs if p.kind == "note"]
    assert [note.text for note in notes] == ["A note. It is short."]
    found = [s for section in document.sections for p in section.paragraphs for s in p.sentences]
    assert document.page_count == 0
    assert not any(sentence.boxes for sentence in found)


@pytest.mark.parametrize(
    ("text", "title", "paths"),
    [
        ("# Title\n\nText here.\n\n## One\n\nMore.", "Title", ["", "One"]),
        ("# Introduction\n\nText.\n\n# Method\n\nMore.", "", ["Introduction", "Method"]),
        ("# Introduction\n\nText here.", "", ["Introduction"]),
        ("Text.\n\n# One\n\nMore.", "", ["", "One"]),
        ("## Sub\n\nText.\n\n# One\n\nMore.", "", ["Sub", "One"]),
        ("# Title\n\n#### Deep\n\nText.\n\n## Less\n\nMore.", "Title", ["Deep", "Less"]),
        ("---\ntitle: Given\n---\n\n# One\n\nText.", "Given", ["One"]),
        ("# Title\n\nJust text, and no heading.", "Title", [""]),
    ],
)
def test_title_is_the_sole_outermost_heading(tmp_path: Path, text: str, title: str, paths: list[str]) -> None:
    document = read(tmp_path, text)
    assert (document.title, headings(document)) == (title, paths)
    assert document.notes == (() if title else ("no title was found",))


@pytest.mark.parametrize(
    ("front", "authors"),
    [
        ("author: Ada Lovelace", [("Ada", "Lovelace")]),
        ("author: Lovelace, Ada", [("Ada", "Lovelace")]),
        ("author: Ada Lovelace, Bob Stone and Plato", [("Ada", "Lovelace"), ("Bob", "Stone"), ("", "Plato")]),
        ("authors: [Ada Lovelace, Bob Stone]", [("Ada", "Lovelace"), ("Bob", "Stone")]),
        ("authors:\n- name: Ada Lovelace\n- name: Ada Lovelace", [("Ada", "Lovelace")]),
        ("author:\n- 1\n- [x]\n- {}\n- null", [("", "1"), ("", "x"), ("", "null")]),
        ("author: ''", []),
    ],
)
def test_authors_of_the_front_matter(tmp_path: Path, front: str, authors: list[tuple[str, str]]) -> None:
    document = read(tmp_path, f"---\ntitle: T\n{front}\n---\n\nText.")
    assert [(author.given, author.family) for author in document.authors] == authors


def test_authors_stand_under_the_title_or_in_the_front_matter_with_affiliations(tmp_path: Path) -> None:
    front = "author:\n- name: Ada Lovelace\n  affiliation: Here University\n"
    assert read(tmp_path, f"---\n{front}---\nText.").authors == (
        Author("Ada", "Lovelace", ("Here University",)),
    )
    document = read(
        tmp_path, "# On Cats\n\n**Ada Lovelace**\\*, Jan van Eyck, and Éva Nagy2\n\n## One\n\nText."
    )
    assert [author.name for author in document.authors] == ["Ada Lovelace", "Jan van Eyck", "Éva Nagy"]


@pytest.mark.parametrize(
    "front",
    [
        "a: [",
        "a: &x [*x]\nb: *y",
        "{" * 30_000,
        "a: " + "b" * 70_000,
        "? !!python/object/apply:os.system [id]",
    ],
    ids=["open", "unknown alias", "deep", "long", "call"],
)
def test_broken_front_matter_costs_only_itself(tmp_path: Path, front: str) -> None:
    document = read(tmp_path, f"---\n{front}\n---\n\n# Title\n\nText here.")
    assert "Text here." in texts(document)


def test_parts_of_an_abstract_and_labelled_references_are_told_apart(tmp_path: Path) -> None:
    text = "# T\n\n## Abstract\n\n### Aim\n\nWe ask.\n\n### Result\n\nIt is so.\n\n## One\n\nText."
    assert [paragraph.text for paragraph in read(tmp_path, text).abstract] == [
        "Aim: We ask.",
        "Result: It is so.",
    ]
    entries = "[1] A. Lovelace. 2019. On notes and engines.\n[2] B. Stone. 2020. On stones and more.\n[3] -\n"
    document = read(tmp_path, f"# T\n\nText [2].\n\n## References\n\n{entries}")
    assert [reference.year for reference in document.references] == [2019, 2020]


@pytest.mark.parametrize(
    "opening", ["Abstract: In short.", "**Abstract.** In short.", "Abstract\n\nIn short."]
)
def test_abstract_without_a_heading_is_found(tmp_path: Path, opening: str) -> None:
    document = read(tmp_path, f"# T\n\n{opening}\n\n**Keywords:** cats; dogs\n\n## One\n\nText.")
    assert [paragraph.text for paragraph in document.abstract] == ["In short."]
    assert document.keywords == ("cats", "dogs")


def test_what_is_made_to_take_hours_or_all_memory_is_left_out_or_refused(tmp_path: Path) -> None:
    # Regression: exports carry pictures as megabytes of letters in one line.
    picture = "![cat](data:image/png;base64," + "iVBORw0KGgo" * 20_000 + "=)"
    assert texts(read(tmp_path, f"# T\n\nText here.\n\n{picture}")) == ["Text here.", "cat"]
    # Regression: the time for a run of open brackets grows with its square.
    with pytest.raises(ParseError, match=r"paper\.md has a paragraph of more than 100,000 characters"):
        read(tmp_path, "[" * (LONGEST_PARAGRAPH + 1))
    # Regression: 294 bytes of front matter became a million keywords.
    lists = (f"{new}: &{new} [{','.join([f'*{old}'] * 10)}]\n" for old, new in pairwise("abcdefg"))
    document = read(tmp_path, f"---\na: &a ha\n{''.join(lists)}keywords: *g\n---\n\n# On cats\n\nThey sleep.")
    assert document.keywords == ()
    assert "cannot be read as YAML" in document.notes[0]
    self_made = read(tmp_path, "---\nkeywords: &a [*a, cats]\n---\n\n# On cats\n\nThey sleep.")
    assert self_made.keywords == ()
    document = read(
        tmp_path, f"---\nkeywords: [{'a,' * 9_000}]\nauthor: [{'b,' * 9_000}]\n---\n\n# T\n\nText."
    )
    assert len(document.keywords) <= MOST_LISTED
    assert len(document.authors) <= MOST_LISTED


@pytest.mark.parametrize(
    "text", ["", " \n\n", "# Only a title", "<div></div>", "<!-- x -->", "---\ntitle: T\n---\n"]
)
def test_file_without_text_is_refused(tmp_path: Path, text: str) -> None:
    with pytest.raises(ParseError, match=r"paper\.md (is empty|has no text)"):
        read(tmp_path, text)


MARKUP = st.lists(
    st.one_of(
        st.sampled_from(
            ["# ", "## ", "\n", "\n\n", "- ", "| a | b |\n|---|---|\n", "```\n", "---\n", "> ", "[^1]: "]
        ),
        st.text(max_size=12),
    ),
    max_size=30,
).map("".join)


@given(MARKUP)
def test_any_markdown_is_read_or_refused(tmp_path_factory: pytest.TempPathFactory, text: str) -> None:
    try:
        document = read(tmp_path_factory.getbasetemp(), text.encode("utf-8", "replace").decode())
    except ParseError as error:
        assert str(error)
        return
    for section in document.sections:
        assert section.paragraphs
        assert all(text and text == " ".join(text.split()) for text in sentences(section))
