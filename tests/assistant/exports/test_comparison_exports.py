"""Comparisons as Markdown, HTML, LaTeX with its references, and a spreadsheet of the key elements."""

import csv
import io
import re
from dataclasses import fields, is_dataclass, replace
from typing import Any, get_args, get_origin, get_type_hints

import pytest
from docx import Document
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from assistant.comparing.grid import ELEMENT_TITLES
from assistant.comparing.records import (
    Candidate,
    ElementEvidence,
    KeyElement,
    QuestionColumn,
    QuotedCell,
    QuotedSentence,
    Round,
    Vote,
    WorkCall,
)
from assistant.exports.escaping import in_latex, in_spreadsheet
from assistant.exports.html import comparison_to_html
from assistant.exports.latex import comparison_to_latex
from assistant.exports.markdown import comparison_to_markdown, grid_to_markdown
from assistant.exports.registry import (
    COMPARISON_FORMATS,
    CONVERSATION_FORMATS,
    ConversationFormatName,
    OptionName,
    comparison_text,
)
from assistant.exports.tables import grid_to_csv
from assistant.records import (
    Answer,
    AnswerSentence,
    AssistantError,
    Call,
    Citation,
    Evidence,
    Message,
    Parameters,
)
from corpus.records import Author, Topic
from tests.assistant.checking.test_citations import make_paper
from tests.assistant.comparing.test_comparison_grid import THREE, make_elements, with_paper
from tests.assistant.exports.test_export_html import read_page
from tests.assistant.exports.test_references import bibtex_entries
from tests.assistant.trail.test_transcript import HOSTILE

WRITE = {export.name: export.write for export in COMPARISON_FORMATS}
comparison_to_bibtex, comparison_to_ris, comparison_to_csl_json = (
    WRITE[name] for name in ("bib", "ris", "csl")
)

SUMMARY = "Ranks are **added** in [1][2].\n\n- One learns weights [2].\n\nNobody knows why [7?]."
_CITE = re.compile(r"\\cite\{([^{}]*)\}")


def sentence(text, labels, start):
    citations = tuple(
        Citation(label, text, f"p{label}#0", 0, "A text.", overlap=0.4, support=0.8) for label in labels
    )
    return AnswerSentence(start, start + len(text), text, labels, citations, support=0.8)


def whole():
    """Return a comparison with everything in it: a summary, elements, rounds, discarded votes and calls."""
    candidates = (
        Candidate(1, None, "Ranks are added [1].", (2,), ("cut_short",), 1.0, 0.5, 1),
        Candidate(2, None, SUMMARY, (), (), 1.0, 1.0, 2),
    )
    votes = (Vote(1, 2, "It compares both."), Vote(2, None, problem="The reply named no draft."))
    round_ = Round(1, (1,), candidates, votes, (2, 1), ("The server did not answer.",))
    call = Call(
        "compare",
        "own-model",
        (Message("system", "Be brief."), Message("user", "Compare ```these```.")),
        Parameters(),
        "Ranks are added [1].",
        "2026-11-21T12:00:00+00:00",
        1.5,
    )
    answer = Answer(
        SUMMARY,
        (
            sentence("Ranks are **added** in [1][2].", (1, 2), 0),
            sentence("One learns weights [2].", (2,), 34),
        ),
        citation_recall=1.0,
        citation_precision=0.5,
    )
    comparison = replace(
        THREE,
        answer=answer,
        rounds=(round_,),
        calls=(WorkCall("elements 1", call, reused=True), WorkCall("round 1 sample 1", call)),
        remarks=("[3] is known by its abstract alone.",),
        columns=(
            QuestionColumn(
                "Which weights are used?",
                (QuotedCell(1, (QuotedSentence("p1#0", 0, "Ranks weigh alike."),)), QuotedCell(2)),
            ),
        ),
    )
    return with_paper(comparison, 1, bibtex="@inproceedings{key-one,\n title = {One}\n}", venue="A & B")


def everywhere(record: Any, text: str) -> Any:
    """Return a record in which every free text is `text`; names from fixed lists stay."""
    if isinstance(record, tuple):
        return tuple(everywhere(value, text) for value in record)
    if not is_dataclass(record):
        return record
    hints = get_type_hints(type(record))
    changes = {}
    for field in fields(record):
        value, hint = getattr(record, field.name), hints[field.name]
        if hint is str:
            changes[field.name] = text
        elif get_origin(hint) is tuple and get_args(hint)[0] is str:
            changes[field.name] = tuple(text for _ in value)
        else:
            changes[field.name] = everywhere(value, text)
    return replace(record, **changes)


def hostile(text):
    """Return a comparison of foreign text alone, whose elements could be read all the same."""
    forged = everywhere(whole(), text)
    return replace(forged, elements=tuple(replace(elements, problem="") for elements in forged.elements))


def page_of(comparison):
    return read_page(comparison_to_html(comparison))


def balanced(tex):
    """Return True if every brace and every environment of a document closes, whatever is escaped."""
    bare = re.sub(r"\\\\|\\[{}%]", "", tex)
    bare = re.sub(r"(?m)%.*$", "", bare)
    depth, opened = 0, []
    for part in re.finditer(r"\\(begin|end)\{(\w+)\}|[{}]", bare):
        if part[1] == "begin":
            opened.append(part[2])
        elif part[1] == "end":
            assert opened.pop() == part[2]
        else:
            depth += 1 if part[0] == "{" else -1
            assert depth >= 0
    return depth == 0 and not opened


def test_markdown_holds_the_whole_comparison():
    exported = comparison_to_markdown(whole())
    for part in (
        "# How lists are fused",
        "**Title 1**",
        "Compared and not cited:",
        "| Research questions |",
        "*not stated in the text*",
        "15 (71%) of the papers' 21 elements are not stated in their texts",
        "In the key elements and topics of \\[3\\] alone: ",
        "### Round 1: \\[1\\]",
        "**Candidate 2** (kept): 2 votes, citation recall 1.00, precision 1.00",
        "It lost \\[2\\].",
        "Vote 2: discarded. The reply named no draft.",
        "A sample could not be written: The server did not answer.",
        "### Elements 1 (made for an earlier comparison)",
        "1 model call · 1 call of an earlier comparison used again",
        "known by its abstract alone",
    ):
        assert part in exported
    tokens = MarkdownIt("commonmark").enable("table").parse(exported)
    assert sum(token.type == "table_open" for token in tokens) == 1
    assert sum(token.type == "tr_open" for token in tokens) == 1 + 4


def test_own_questions_are_columns_of_every_exported_grid(tmp_path):
    comparison = whole()
    question, quote, missing = "Which weights are used?", "Ranks weigh alike.", "no sentence found"
    markdown = grid_to_markdown(comparison)
    assert f"| Limitations | {question} |" in markdown
    assert f"{quote} (body) |" in markdown.splitlines()[3] and missing in markdown.splitlines()[4]
    tex = comparison_to_latex(comparison)
    assert rf"\textbf{{Limitations}} & \textbf{{{question}}}" in tex and f" &\n{quote}" in tex
    assert tex.count(" &\n") == 4 * 8 and r"*{9}{" in tex
    first, second = rows(grid_to_csv(comparison))[1:3]
    assert (first[question], first[f"{question} (places)"]) == (quote, "body (p1#0)")
    assert missing in second[question] and not second[f"{question} (places)"]
    page = page_of(comparison)
    assert question in page.text and quote in page.text
    assert f"{missing})" in page.text and "1 of 3 answers to your own questions found" in page.text
    document = tmp_path / "c.docx"
    document.write_bytes(WRITE["docx"](comparison))
    table = Document(str(document)).tables[-1]
    assert [cell.text for cell in table.columns[8].cells][:3] == [question, "papers alone are asked", quote]
    assert "Which weights" not in grid_to_markdown(replace(comparison, columns=()))


def test_a_quote_on_the_page_leads_to_its_passage_where_nothing_else_does():
    comparison = replace(whole(), answer=Answer(""), elements=())
    page = page_of(comparison)
    targets = [value[1:] for value in page.values("href") if value.startswith("#")]
    assert targets and set(targets) <= set(page.ids)


def test_a_question_that_a_spreadsheet_would_compute_is_text():
    asked = replace(whole(), columns=(QuestionColumn('=HYPERLINK("http://203.0.113.9")'),))
    assert "'=HYPERLINK" in grid_to_csv(asked).splitlines()[0]


def test_hostile_text_does_nothing_in_a_comparison_as_markdown():
    exported = comparison_to_markdown(hostile(f"{HOSTILE}\n| a | b |\n# {HOSTILE}"))
    tokens = MarkdownIt("commonmark", {"linkify": False}).enable("table").parse(exported)
    kinds = [child.type for token in tokens for child in (token, *(token.children or ()))]
    assert not {"link_open", "image", "html_block", "html_inline", "hr"} & set(kinds)
    assert kinds.count("table_open") == 1
    assert kinds.count("tr_open") == 1 + 4
    calm = MarkdownIt("commonmark").enable("table").parse(comparison_to_markdown(whole()))
    assert kinds.count("heading_open") == [token.type for token in calm].count("heading_open")


def test_every_citation_and_every_cell_of_the_page_leads_to_its_evidence():
    page = page_of(whole())
    targets = [value[1:] for value in page.values("href") if value.startswith("#")]
    assert targets
    assert set(targets) <= set(page.ids)
    assert {"c-s1-1", "c-s1-2", "c-s2-2", "c-p1"} <= set(targets)
    assert "Support 0.70 strong" in page.text
    assert page.text.count("not stated in the text") == 21 - 6 + 6
    assert "Compare ```these```." in page.text
    assert "Vote 2: discarded." in page.text


def test_the_page_runs_and_fetches_nothing():
    page = page_of(whole())
    (policy,) = (value for value in page.values("content") if "default-src" in value)
    assert policy.startswith("default-src 'none'; style-src 'sha256-")
    assert {value[:1] for value in page.values("href")} == {"#"}


def test_hostile_text_stays_text_in_a_comparison_as_html():
    page = page_of(hostile(f'{HOSTILE}</style><script>x</script>" onclick="y'))
    assert "<script>x</script>" in page.text
    assert not [value for value in page.values("href") if "evil" in value and not value.startswith("http")]


def test_the_document_cites_the_keys_of_its_references():
    comparison = whole()
    tex, entries = comparison_to_latex(comparison, "lists"), bibtex_entries(comparison_to_bibtex(comparison))
    cited = {key for group in _CITE.findall(tex) for key in group.split(",")}
    assert cited == set(entries) == {"key-one", "2022-title", "2022-title-2"}
    assert r"Ranks are \textbf{added} in~\cite{key-one,2022-title}." in tex
    assert "\\begin{itemize}\n\\item One learns weights~\\cite{2022-title}.\n\\end{itemize}" in tex
    assert "% [7?] names no paper that was given.\nNobody knows why." in tex
    assert r"\bibliography{lists}" in tex
    assert r"Results: stated by~\cite{key-one,2022-title}, not by~\cite{2022-title-2}." in tex
    assert balanced(tex)


def doubtful():
    """Return a comparison whose summary and elements are in doubt in every way there is."""
    text = "Ranks are added [1]. Weights\nare learned [2]. All of it is quick. It is known [77?][1]."
    sentences = (
        sentence("Ranks are added [1].", (1,), 0),
        replace(sentence("Weights\nare learned [2].", (2,), 21), support=0.21),
        replace(sentence("All of it is quick.", (), 46), needs_citation=True, support=None),
        sentence("It is known [77?][1].", (1,), 66),
    )
    answer = Answer(text, sentences, problems=("cut_short",), citation_recall=0.5, citation_precision=0.0)
    weak = KeyElement("results", "It wins {all}.", 0.12, (ElementEvidence("p1#0", 0, "Other.", 0.12),))
    elements = (replace(THREE.elements[1], elements=(weak,)), *THREE.elements[2:])
    return replace(whole(), answer=answer, elements=elements)


def test_fault_the_document_dropped_every_warning():
    tex = comparison_to_latex(doubtful(), "lists")
    head, body = tex.split(r"\documentclass")
    assert all(line.startswith("%") for line in head.splitlines())
    for part in (
        "lists.bib",
        "bibtex",
        "50% of the claims are supported by what they cite; 0% of the citations help to support their claim",
        "The reply reached the longest length allowed",
        "[3] is known by its abstract alone.",
        "written by the model model",
    ):
        assert part in head
    assert "Ranks are added~\\cite{key-one}.\n" not in head
    assert "\n% Only weakly supported (support 0.21) by what it cites.\nWeights\nare learned~\\cite" in body
    assert "\n% Makes a claim and cites nothing.\nAll of it is quick." in body
    assert "\n% [77?] names no paper that was given.\nIt is known~\\cite{key-one}." in body
    assert body.count("77") == 1
    assert balanced(tex)


def test_fault_an_invented_element_stood_in_exported_tables_like_any_other():
    comparison = doubtful()
    assert r"\textit{The text does not carry this (support 0.12):} It wins \{all\}." in comparison_to_latex(
        comparison
    )
    assert "Marked ones were written" in comparison_to_latex(comparison)
    assert r"*The text does not carry this (support 0.12):* It wins \{all\}." in grid_to_markdown(comparison)
    assert "The text does not carry this (support 0.12):" in page_of(comparison).text
    assert rows(grid_to_csv(comparison))[1]["Results"] == (
        "The text does not carry this (support 0.12): It wins {all}."
    )


@pytest.mark.parametrize(
    ("generator", "words"),
    [("extractive", "sentences chosen from the texts, without a model"), ("a_b", r"of the model a\_b")],
)
def test_the_caption_says_how_the_elements_were_made(generator, words):
    made = replace(whole().provenance, generator=generator)
    assert words in comparison_to_latex(replace(whole(), provenance=made))


@pytest.mark.parametrize("name", ["", "a b", "x}y", "../up", "a%b"])
def test_a_name_that_latex_cannot_take_is_not_written_into_the_document(name):
    assert r"\bibliography{references}" in comparison_to_latex(whole(), name)


def test_a_long_element_is_cut_in_the_printed_table_and_whole_in_the_spreadsheet():
    long = "word " * 200
    comparison = replace(THREE, elements=(make_elements(1, results=long),))
    assert "word word …" in comparison_to_latex(comparison)
    assert long.strip() in grid_to_csv(comparison)


# The rest of TeX once all that escaping writes is removed must be inert.
_WRITTEN = re.compile(r"\\text(?:backslash|asciitilde|asciicircum|less|greater|bar|quotedbl|asciigrave)\{\}")


@given(st.text(max_size=60) | st.text(alphabet="\\{}$&#_%~^<>|\"`[]-!?'a\n ", max_size=60))
def test_no_text_acts_in_latex(text):
    left = _WRITTEN.sub("x", in_latex(text))
    left = re.sub(r"\\[{}$&#%_]|\{\[\}|\{\]\}|-\{\}", "x", left)
    assert not re.search(r"[\\{}$&#_%~^<>|\"`\[\]\n]|--", left)


@given(st.text(max_size=40) | st.just("\\input{x} $ % }{ \\\\ [1] & #"))
def test_no_text_breaks_the_document(text):
    assert balanced(comparison_to_latex(hostile(text)))


@pytest.mark.parametrize(
    "entry",
    [
        r"@misc{a, title = {\input{/etc/passwd}}}",
        r"@misc{a, title = {^^5cinput x}}",
        r"@misc{a, title = {\csname input\endcsname x}}",
        "@misc{a&b, title = {x}}",
    ],
)
def test_an_entry_that_does_more_than_typeset_is_made_anew(entry):
    comparison = with_paper(THREE, 1, bibtex=entry)
    exported = comparison_to_bibtex(comparison)
    assert "2022-title" in bibtex_entries(exported)
    assert "input" not in exported
    assert "a&b" not in exported


def test_an_entry_with_accents_and_mathematics_is_kept():
    entry = r"@misc{tanzer-2022, title = {T{\"a}nzer's {$\alpha$} \emph{models} {\'e} 5\%}}"
    assert entry in comparison_to_bibtex(with_paper(THREE, 1, bibtex=entry))


def test_the_references_are_those_of_all_papers_compared():
    assert comparison_to_ris(whole()).count("TY  - ") == 3
    assert comparison_to_csl_json(whole()).count('"id"') == 3


def rows(text):
    return list(csv.DictReader(io.StringIO(text, newline="")))


def test_the_spreadsheet_has_a_line_for_each_paper():
    first, second, *_ = rows(grid_to_csv(with_paper(THREE, 1, title='Says "so", they said')))
    assert (first["Label"], first["Title"], first["Read from"]) == ("0", "Your description", "description")
    assert (second["Label"], second["Paper"], second["Title"]) == ("1", "p1", 'Says "so", they said')
    assert second["Results"] == "Hybrid search wins on MS MARCO."
    assert (second["Results (support)"], second["Results (evidence)"]) == ("0.70", second["Results"])
    assert (second["Conclusions"], second["Conclusions (support)"]) == ("not stated in the text", "")
    assert list(ELEMENT_TITLES.values()) == [key for key in second if key in ELEMENT_TITLES.values()]


@pytest.mark.parametrize("text", ["=1+1", "+x", "-x", "@x", "\t=x", " =HYPERLINK(1)", "＝1", "\r=cmd", "'=1"])
def test_no_cell_of_a_spreadsheet_is_a_formula(text):
    shown = in_spreadsheet(text)
    assert shown.startswith("'")
    comparison = hostile(text)
    for row in rows(grid_to_csv(comparison)):
        assert not any(re.match(r"\s*[=+\-@＝]", value or "") for value in row.values())


def test_a_minus_within_a_text_stays_as_it_is():
    assert in_spreadsheet("F1 = 0.5 - 0.1") == "F1 = 0.5 - 0.1"


def test_the_table_in_markdown_has_a_row_for_each_text():
    table = grid_to_markdown(with_paper(THREE, 1, title="A | B", topics=(Topic("task", "x", 1.0),)))
    html = MarkdownIt("commonmark").enable("table").render(table)
    assert html.count("<tr>") == 1 + 4
    assert "<strong>A | B</strong> (2022)" in html
    assert "(support 0.70 strong)" in html


def test_without_elements_nothing_is_said_of_them():
    bare = replace(whole(), elements=(), columns=())
    for text in (comparison_to_markdown(bare), comparison_to_html(bare), comparison_to_latex(bare)):
        assert "Key elements" not in text
        assert "longtable}{" not in text
        assert "alone: " not in text


def test_a_paper_without_a_title_is_named_by_its_id():
    comparison = with_paper(whole(), 2, title="", authors=(Author("", "The Group"),))
    assert "p2" in comparison_to_latex(comparison)
    assert Evidence((make_paper(2, "x"),)).paper(2) is not None
    assert balanced(comparison_to_latex(comparison))


def test_formats_are_offered_under_the_names_of_the_registry():
    offered = {found.name for found in COMPARISON_FORMATS} - {"table", "tex_table"}
    assert offered == set(get_args(OptionName))
    assert {found.name for found in CONVERSATION_FORMATS} == set(get_args(ConversationFormatName))


def test_fault_a_format_of_conversations_alone_broke_off_a_comparison_that_was_paid_for():
    with pytest.raises(AssistantError, match="A comparison cannot be written as adoc"):
        comparison_text(whole(), "adoc", "x")
