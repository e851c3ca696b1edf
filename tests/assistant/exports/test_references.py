"""References of cited papers, read back by what reads such files."""

import io
import json
import re
import warnings
from dataclasses import replace

import pytest
from citeproc import Citation, CitationItem, CitationStylesBibliography, CitationStylesStyle, formatter
from citeproc.source.bibtex.bibparse import BibTeXParser
from citeproc.source.json import CiteProcJSON
from hypothesis import given
from hypothesis import strategies as st

from assistant.exports.registry import CONVERSATION_FORMATS
from assistant.records import Answer, AnswerSentence, Conversation, Evidence
from corpus.records import Author, passage_id
from tests.assistant.checking.test_citations import make_paper
from tests.assistant.storage.test_conversations import make_turn

WRITE = {export.name: export.write for export in CONVERSATION_FORMATS}
to_bibtex, to_ris, to_csl_json = (WRITE[name] for name in ("bib", "ris", "csl"))

# The types and fields we use, of those that CSL 1.0.2 knows.
CSL_TYPES = set("article article-journal book chapter document paper-conference report thesis".split())
CSL_TEXTS = {"title", "container-title", "page", "DOI", "URL", "archive", "archive_location", "id", "type"}
RIS_LINE = re.compile(r"[A-Z][A-Z0-9]  - [^\r\n]*")


def paper(label=1, **facts):
    made = make_paper(label, "text")
    facts = {"title": f"Title {label}", "bibtex": "", "id": f"c/{label}"} | facts
    own = replace(made.paper, **facts)
    passages = (
        replace(passage, id=passage_id(own.id, passage.number), paper_id=own.id) for passage in made.passages
    )
    return replace(made, paper=own, passages=tuple(passages))


def conversation(*papers, labels=None):
    labels = tuple(paper.label for paper in papers) if labels is None else labels
    sentence = AnswerSentence(0, 1, "x", labels, ())
    turn = replace(make_turn(), evidence=Evidence(papers), answer=Answer("x", (sentence,)))
    return Conversation("c", "t", (turn,))


FULL = paper(
    title="The 90% Rule: A & B",
    authors=(Author("Ada", "van Dÿk"), Author("", "The Group")),
    year=2022,
    venue="Proceedings of Notes",
    pages="11–19",
    doi="10.1000/x_1",
    url="https://example.org/a?b=1&c=2",
)


def bibtex_entries(text):
    return dict(BibTeXParser(io.StringIO(text)))


def ris_records(text):
    """Return the records of a RIS file as lists of tag and value; every line must be one of the format's."""
    records = []
    for line in filter(None, text.split("\r\n")):
        assert RIS_LINE.fullmatch(line), line
        tag, value = line[:2], line[6:]
        if tag == "TY":
            records.append([])
        records[-1].append((tag, value))
    for record in records:
        assert [tag for tag, _ in record].count("ER") == 1
        assert (record[0][0], record[-1]) == ("TY", ("ER", ""))
    return records


def csl_items(text):
    """Return the items of CSL-JSON; each must keep the main rules of the format."""
    items = json.loads(text)
    assert len({item["id"] for item in items}) == len(items)
    for item in items:
        assert item["type"] in CSL_TYPES
        assert all(isinstance(item[name], str) and item[name] for name in item.keys() & CSL_TEXTS)
        assert item.keys() <= CSL_TEXTS | {"author", "issued"}
        assert all(name.keys() in ({"family", "given"}, {"literal"}) for name in item.get("author", ()))
        assert all(type(part) is int for part in item.get("issued", {"date-parts": [[]]})["date-parts"][0])
    return items


def test_a_paper_in_all_three_forms():
    whole = conversation(FULL)
    (entry,) = bibtex_entries(to_bibtex(whole)).items()
    assert entry[0] == "dyk-2022-rule"
    assert entry[1]["title"] == r"The 90\% Rule: A \& B"
    assert ris_records(to_ris(whole)) == [
        [
            ("TY", "CPAPER"),
            ("ID", "dyk-2022-rule"),
            ("TI", "The 90% Rule: A & B"),
            ("AU", "van Dÿk, Ada"),
            ("AU", "The Group"),
            ("PY", "2022"),
            ("T2", "Proceedings of Notes"),
            ("SP", "11"),
            ("EP", "19"),
            ("DO", "10.1000/x_1"),
            ("UR", "https://example.org/a?b=1&c=2"),
            ("ER", ""),
        ]
    ]
    assert csl_items(to_csl_json(whole)) == [
        {
            "id": "dyk-2022-rule",
            "type": "paper-conference",
            "title": "The 90% Rule: A & B",
            "author": [{"family": "van Dÿk", "given": "Ada"}, {"literal": "The Group"}],
            "issued": {"date-parts": [[2022]]},
            "container-title": "Proceedings of Notes",
            "page": "11–19",
            "DOI": "10.1000/x_1",
            "URL": "https://example.org/a?b=1&c=2",
        }
    ]


def test_unknown_fields_are_left_out():
    bare = conversation(paper(title="", authors=(), year=None, venue="", pages="", doi="", url=""))
    assert to_bibtex(bare) == "@misc{paper,\n}\n\n"
    assert ris_records(to_ris(bare)) == [[("TY", "GEN"), ("ID", "paper"), ("ER", "")]]
    assert csl_items(to_csl_json(bare)) == [{"id": "paper", "type": "document"}]


@pytest.mark.parametrize(
    ("kind", "facts", "ris", "csl"),
    [
        ("article", {}, "JOUR", "article-journal"),
        ("InProceedings", {}, "CPAPER", "paper-conference"),
        ("incollection", {}, "CHAP", "chapter"),
        ("phdthesis", {}, "THES", "thesis"),
        ("misc", {"arxiv_id": "2403.02574"}, "UNPB", "article"),
        ("misc", {}, "GEN", "document"),
        ("datasheet", {}, "GEN", "document"),
    ],
)
def test_the_type_is_that_of_the_sources_own_entry(kind, facts, ris, csl):
    typed = paper(bibtex=f"@{kind}{{key, title = {{T}}}}", **facts)
    assert ris_records(to_ris(conversation(typed)))[0][0] == ("TY", ris)
    (item,) = csl_items(to_csl_json(conversation(typed)))
    assert (item["id"], item["type"]) == ("key", csl)
    assert item.get("archive_location", "") == facts.get("arxiv_id", "")


def test_keys_are_unique_without_regard_to_capitals():
    entries = [
        paper(number, bibtex=f"@misc{{{key}, title = {{x}}}}") for number, key in enumerate("aAa", start=1)
    ]
    exported = to_bibtex(conversation(*entries))
    assert re.findall(r"@misc\{(\S+),", exported) == ["a", "A-2", "a-3"]
    assert len(csl_items(to_csl_json(conversation(*entries)))) == 3


def test_each_cited_paper_comes_once_in_the_order_of_citation():
    papers = [paper(label) for label in (1, 2, 3)]
    turn = conversation(*papers, labels=(3, 1)).turns[0]
    # In the second turn the same papers have other labels.
    swapped = tuple(replace(paper, label=4 - paper.label) for paper in papers)
    again = replace(turn, evidence=Evidence(swapped), answer=conversation(labels=(1, 2, 9)).turns[0].answer)
    both = Conversation("c", "t", (turn, again))
    assert [paper.id for paper in both.papers] == ["c/3", "c/1", "c/2"]
    assert Conversation("c", "t").papers == ()
    assert (to_bibtex(Conversation("c", "t")), to_ris(Conversation("c", "t"))) == ("", "")


@pytest.mark.parametrize(
    "text",
    [
        "@article{a, title = {x}",
        "@article{a, title = {x}} @misc{b, note = {hidden}}",
        "@string{a, b}",
        "</script><b>no entry",
    ],
)
def test_an_entry_that_is_none_is_replaced(text):
    entries = bibtex_entries(to_bibtex(conversation(replace(FULL, paper=replace(FULL.paper, bibtex=text)))))
    assert entries.keys() == {"dyk-2022-rule"}


texts = st.text(max_size=30)


@given(texts, texts, texts, texts, texts)
def test_no_text_breaks_out_of_its_field(title, given, family, venue, pages):
    hostile = paper(title=title, authors=(Author(given, family),), venue=venue, pages=pages, bibtex=title)
    whole = conversation(hostile, paper(2))
    assert len(bibtex_entries(to_bibtex(whole))) == 2
    assert len(ris_records(to_ris(whole))) == 2
    assert len(csl_items(to_csl_json(whole))) == 2


def test_a_processor_of_citations_renders_them():
    items = csl_items(to_csl_json(conversation(FULL)))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        style = CitationStylesStyle("harvard-cite-them-right", validate=False)
        bibliography = CitationStylesBibliography(style, CiteProcJSON(items), formatter.plain)
        bibliography.register(Citation([CitationItem(items[0]["id"])]))
        rendered = str(bibliography.bibliography()[0])
    assert "van Dÿk, A. and The Group" in rendered
    assert "(2022)" in rendered
    assert "The 90% Rule: A & B" in rendered


def test_the_sources_own_entries_are_kept(ask_demo):
    turn = ask_demo("When is rank fusion worth it?")
    whole = Conversation("c", "t", (turn,))
    papers = whole.papers
    assert papers
    assert len(bibtex_entries(to_bibtex(whole))) == len(papers)
    assert all(paper.bibtex.splitlines()[1] in to_bibtex(whole) for paper in papers)
