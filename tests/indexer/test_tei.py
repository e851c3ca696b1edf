"""GROBID's TEI as it really is: twenty files of eight versions, and one small file for each surprise."""

from pathlib import Path
from xml.sax.saxutils import escape

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpus.records import Author, Box, Section
from indexer.document import Document, DocumentSection, ParseError
from indexer.tei import LARGEST_TEI, read_tei

FILES = Path(__file__).parents[3] / "shared" / "data" / "grobid" / "tei"
CLIENT = "grobid_client_python__"
STIMULATION = (
    "Multi-contact functional electrical stimulation for hand opening: electrophysiologically driven "
    "identification of the optimal stimulation site"
)
INTROSPECTION = "A Virtual Machine Introspection Based Architecture for Intrusion Detection"

# File, version of GROBID: sections, paragraphs, sentences, references, title. Where GROBID did not mark the
# sentences (all but the first file), their count moves with `corpus.sentences`.
PINNED = [
    (
        "document_qa__2312.07559.sentences__0.8.1-SNAPSHOT",
        (32, 93, 341, 78),
        "PaperQA: Retrieval-Augmented Generative Agent for Scientific Research",
    ),
    (f"{CLIENT}0046d83a-edd6-4631-b57c-755cdcce8b7f__0.6.1", (20, 45, 175, 49), STIMULATION),
    (f"{CLIENT}0046d83a-edd6-4631-b57c-755cdcce8b7f__0.6.1_2", (20, 45, 175, 49), STIMULATION),
    (f"{CLIENT}0046d83a-edd6-4631-b57c-755cdcce8b7f__0.6.2-SNAPSHOT", (20, 42, 165, 49), STIMULATION),
    (f"{CLIENT}0046d83a-edd6-4631-b57c-755cdcce8b7f__0.8.1", (19, 43, 169, 49), STIMULATION),
    (f"{CLIENT}10.1038_s41477-023-01501-1__unknown", (28, 64, 419, 70), "nature plants Article"),
    (
        f"{CLIENT}10.1038_s41598-023-32039-z__unknown",
        (21, 48, 303, 48),
        (
            "Identification of PARN nuclease activity inhibitors by computational-based "
            "docking and high-throughput screening"
        ),
    ),
    (
        f"{CLIENT}10.1371_journal.pone.0218311__unknown",
        (27, 72, 339, 48),
        "Being right matters: Model-compliant events in predictive processing",
    ),
    (
        f"{CLIENT}ijms-24-05988__0.8.3-SNAPSHOT",
        (26, 62, 301, 31),
        (
            "Variation in Lipid Species Profiles among Leukemic Cells Significantly Impacts "
            "Their Sensitivity to the Drug Targeting of Lipid Metabolism and the Prognosis of"
            " AML Patients"
        ),
    ),
    (
        f"{CLIENT}mjb3wlzxcb2mc-migowebupload-1766042162782__0.8.2",
        (16, 33, 188, 22),
        (
            "Phase 3 Open-Label Study Evaluating the Efficacy and Safety of Mavacamten in "
            "Japanese Adults With Obstructive Hypertrophic Cardiomyopathy ― The HORIZON-HCM "
            "Study ―"
        ),
    ),
    ("kermitt2_grobid__sample1.tei.header__0.4.1", (0, 0, 0, 0), INTROSPECTION),
    ("kermitt2_grobid__sample2.tei.fulltext__0.4.1", (61, 64, 479, 47), INTROSPECTION),
    (
        "maxtwer__paper10__0.8.2",
        (50, 162, 340, 17),
        (
            "REGAL: A Registry-Driven Architecture for Deterministic Grounding of Agentic AI "
            "in Enterprise Telemetry"
        ),
    ),
    (
        "maxtwer__paper1__0.8.2",
        (17, 46, 156, 37),
        "Using Learning Progressions to Guide AI Feedback for Science Learning",
    ),
    ("maxtwer__paper3__0.8.2", (7, 50, 217, 53), ""),
    (
        "maxtwer__paper4__0.8.2",
        (14, 41, 164, 20),
        "Agentic AI-based Coverage Closure for Formal Verification",
    ),
    (
        "maxtwer__paper5__0.8.2",
        (24, 137, 460, 51),
        (
            "Channel-Adaptive Edge AI: Maximizing Inference Throughput by Adapting "
            "Computational Complexity to Channel States"
        ),
    ),
    (
        "s2orc_doc2json__2020.acl-main.207__0.6.1",
        (21, 62, 278, 57),
        ("SPECTER: Document-level Representation Learning using Citation-informed Transformers"),
    ),
    (
        "s2orc_doc2json__f2235cd28c171f9f3b6a8bcebe246159c464980c__0.5.5",
        (8, 50, 175, 39),
        (
            "M P RA Munich Personal RePEc Archive Territorial Rural Development in Latin "
            "America and the Caribbean: Discourses and Realities"
        ),
    ),
]


def tei(body: str = "", *, header: str = "", back: str = "", facsimile: str = "") -> bytes:
    return (
        '<?xml version="1.0" encoding="UTF-8"?><TEI xmlns="http://www.tei-c.org/ns/1.0" xml:space="preserve">'
        f"<teiHeader>{header}</teiHeader>{facsimile}"
        f'<text xml:lang="en"><body>{body}</body><back>{back}</back></text></TEI>'
    ).encode()


def div(head: str, *paragraphs: str, number: str = "") -> str:
    n = f' n="{number}"' if number else ""
    heading = f"<head{n}>{head}</head>" if head or number else ""
    return f"<div>{heading}{''.join(f'<p>{paragraph}</p>' for paragraph in paragraphs)}</div>"


def source_desc(inner: str) -> str:
    return f"<fileDesc><sourceDesc><biblStruct>{inner}</biblStruct></sourceDesc></fileDesc>"


def abstract(inner: str) -> str:
    return f"<profileDesc><abstract>{inner}</abstract></profileDesc>"


def headings(document: Document) -> list[str]:
    return [" > ".join(section.heading for section in found.path) for found in document.sections]


def texts(document: Document) -> list[str]:
    return [paragraph.text for section in document.sections for paragraph in section.paragraphs]


def sentences(section: DocumentSection) -> list[str]:
    return [sentence.text for paragraph in section.paragraphs for sentence in paragraph.sentences]


def paths_of(*heads: str | tuple[str, str]) -> list[str]:
    """Return the section paths of headings, a pair being (@n, text); a trailing "!" has no paragraph."""
    pairs = [head if isinstance(head, tuple) else ("", head) for head in heads]
    divisions = [
        div(
            text.removesuffix("!"),
            *([] if text.endswith("!") else [f"Text number {place} is here."]),
            number=n,
        )
        for place, (n, text) in enumerate(pairs)
    ]
    return headings(read_tei(tei("".join(divisions))))


# Real files


@pytest.mark.skipif(not FILES.is_dir(), reason="the collection of real TEI files is not in this checkout")
@pytest.mark.parametrize(("name", "counts", "title"), PINNED)
def test_real_file_has_its_pinned_counts(name: str, counts: tuple[int, int, int, int], title: str) -> None:
    document = read_tei(FILES / f"{name}.tei.xml")
    assert document.title == title
    sentence_count = sum(len(sentences(section)) for section in document.sections)
    assert counts == (
        len(document.sections),
        len(texts(document)),
        sentence_count,
        len(document.references),
    )


@pytest.mark.skipif(not FILES.is_dir(), reason="the collection of real TEI files is not in this checkout")
def test_real_empty_result_is_refused() -> None:
    with pytest.raises(ParseError, match=r"^GROBID found no text in this paper$"):
        read_tei(FILES / f"{CLIENT}article_withdrawn__0.8.2.tei.xml")


@pytest.mark.skipif(not FILES.is_dir(), reason="the collection of real TEI files is not in this checkout")
def test_every_real_file_is_pinned() -> None:
    names = {file.name.removesuffix(".tei.xml") for file in FILES.glob("*.tei.xml")}
    assert names - {name for name, *_ in PINNED} == {f"{CLIENT}article_withdrawn__0.8.2"}


@pytest.mark.skipif(not FILES.is_dir(), reason="the collection of real TEI files is not in this checkout")
def test_real_file_with_sentence_coordinates_has_boxes_on_its_pages() -> None:
    document = read_tei(FILES / "document_qa__2312.07559.sentences__0.8.1-SNAPSHOT.tei.xml")
    assert (document.page_count, document.arxiv_id, document.year) == (20, "2312.07559v2", 2023)
    boxes = [
        box
        for section in document.sections
        for paragraph in section.paragraphs
        for sentence in paragraph.sentences
        for box in sentence.boxes
    ]
    assert len(boxes) > 700
    assert all(1 <= box.page <= 20 and 0 <= box.x < 612 and 0 <= box.y < 792 for box in boxes)


# Results that are hardly any


def test_empty_result_is_refused() -> None:
    with pytest.raises(ParseError, match="found no text"):
        read_tei(tei(header="<fileDesc><titleStmt><title/></titleStmt></fileDesc>" + abstract("")))


def test_missing_title_is_remarked() -> None:
    document = read_tei(tei(div("Introduction", "We begin."), header=abstract("<p>In short.</p>")))
    assert document.title == ""
    assert document.notes == ("GROBID found no title",)


def test_header_only_file_of_old_grobid() -> None:
    header = "<fileDesc><titleStmt><title>Old\n   one</title></titleStmt></fileDesc>" + abstract(
        "<p>A. B.</p>"
    )
    application = (
        '<encodingDesc><appInfo><application version="0.4.1" ident="GROBID"/></appInfo></encodingDesc>'
    )
    source = f'<TEI xmlns="http://www.tei-c.org/ns/1.0"><teiHeader>{application}{header}</teiHeader></TEI>'
    document = read_tei(source.encode())
    assert (document.title, document.sections, document.parser_version) == ("Old one", (), "0.4.1")
    assert document.notes == ("GROBID found no body",)


def test_headless_first_division_has_an_empty_path() -> None:
    assert headings(read_tei(tei(div("", "We begin.") + div("Methods", "We act.")))) == ["", "Methods"]


def test_file_without_namespaces_reads_the_same() -> None:
    source = tei(div("Introduction", "We begin."))
    plain = source.replace(b' xmlns="http://www.tei-c.org/ns/1.0"', b"")
    again = source.replace(b"<div>", b'<div xmlns="http://www.tei-c.org/ns/1.0">')
    assert read_tei(source) == read_tei(plain) == read_tei(again)


# Section paths

SECTION_CASES = [
    ([("1", "Introduction"), ("2", "Method!"), ("2.1", "Data")], ["1 Introduction", "2 Method > 2.1 Data"]),
    ([("2.", "Results!"), ("2.1.", "A Study"), ("3.", "End")], ["2 Results > 2.1 A Study", "3 End"]),
    (["1 Introduction", "2. Method!", "2.1 Data"], ["1 Introduction", "2 Method > 2.1 Data"]),
    (["1 One", "3.1 Orphan of a missed heading"], ["1 One", "3.1 Orphan of a missed heading"]),
    (
        ["I. INTRODUCTION", "II. METHOD!", "A. Data", "B. Model", "III. END"],
        ["I INTRODUCTION", "II METHOD > A Data", "II METHOD > B Model", "III END"],
    ),
    (
        ["I. ONE", "II. TWO!", *(f"{letter}. Part" for letter in "ABCDEFGHI"), "III. THREE"],
        ["I ONE", *(f"II TWO > {letter} Part" for letter in "ABCDEFGHI"), "III THREE"],
    ),
    (
        [("1", "One"), "A DETAILS", "B MORE!", "B.1 Data", "B.2 Code"],
        ["1 One", "A DETAILS", "B MORE > B.1 Data", "B MORE > B.2 Code"],
    ),
    (
        [("1", "One"), ("2", "Two"), "Appendix A Proofs", "A.1 First"],
        ["1 One", "2 Two", "A Proofs", "A Proofs > A.1 First"],
    ),
    (
        [("1", "One"), "APPENDIX!", "A. Proof", "B. Proof"],
        ["1 One", "APPENDIX > A Proof", "APPENDIX > B Proof"],
    ),
    ([("1", "One"), ("2", "Two"), "A High-Level View"], ["1 One", "2 Two", "2 Two > A High-Level View"]),
    (
        [("1", "One"), ("2", "Model 2.1 Overview"), ("2.2", "Loss")],
        ["1 One", "2 Model > 2.1 Overview", "2 Model > 2.2 Loss"],
    ),
    (
        [("1", "One"), ("2", "Two"), "A run-in heading", "Limitations"],
        ["1 One", "2 Two", "2 Two > A run-in heading", "Limitations"],
    ),
    (
        ["Methods", "Participants", "Results!", "Speed", "Discussion"],
        ["Methods", "Methods > Participants", "Results > Speed", "Discussion"],
    ),
    (
        ["Results!", "Behaviour!", "First session.", "Second session.", "Signals", "Conclusion"],
        [
            "Results > Behaviour > First session.",
            "Results > Behaviour > Second session.",
            "Results > Signals",
            "Conclusion",
        ],
    ),
    (["Introduction", "Our Model", "Training"], ["Introduction", "Our Model", "Training"]),
]


@pytest.mark.parametrize(("heads", "expected"), SECTION_CASES)
def test_section_path_is_found(heads: list[str | tuple[str, str]], expected: list[str]) -> None:
    assert paths_of(*heads) == expected


def test_head_without_paragraph_is_an_ancestor_with_number_and_title() -> None:
    document = read_tei(tei(div("Method", number="3") + div("Tools", "We use tools.", number="3.1")))
    assert document.sections[0].path == (Section("3", "Method"), Section("3.1", "Tools"))


@pytest.mark.parametrize(
    "furniture",
    [
        "arXiv:2603.03018v1 [cs.AI] 3 Mar 2026",
        "© The Author(s) 2023",
        "Table 1.",
        "Figure 3 continued on next page",
        "Continued",
        "7:",
        "-",
        "12",
    ],
)
def test_furniture_heading_leaves_its_text_in_the_section_before(furniture: str) -> None:
    document = read_tei(tei(div("Key idea", "It begins here.") + div(furniture, "It goes on there.")))
    assert headings(document) == ["Key idea"]
    assert texts(document) == ["It begins here.", "It goes on there."]


def test_arxiv_stamp_taken_for_a_heading_gives_id_and_year() -> None:
    document = read_tei(tei(div("A", "One.") + div("arXiv:2603.03018v1 [cs.AI] 3 Mar 2026", "Two.")))
    assert (document.arxiv_id, document.year) == ("2603.03018v1", 2026)


def test_number_without_title_is_a_heading_where_it_continues_the_numbering() -> None:
    assert paths_of(("1", "One"), "2!", ("2.1", "Data"), "2.2") == ["1 One", "2 > 2.1 Data", "2 > 2.2"]


def test_fragment_taken_for_a_heading_goes_back_into_the_text() -> None:
    document = read_tei(tei(div("Background", "It was shown (Smith,") + div("2018).", "More follows.")))
    assert headings(document) == ["Background"]
    assert texts(document) == ["It was shown (Smith, 2018).", "More follows."]


def test_labels_in_a_drawing_are_no_ancestors() -> None:
    assert paths_of(("1", "One"), ("2", "Design"), "Guest!", "Host!", "Monitor!", ("3", "End")) == [
        "1 One",
        "2 Design",
        "3 End",
    ]


def test_section_given_twice_becomes_one() -> None:
    long = "This paragraph stands twice in the file because of an error."
    body = div("Results", number="2") + div("Cells", long, "First.", number="2.1")
    document = read_tei(tei(body + div("Results", number="2") + div("Cells", long, "Second.", number="2.1")))
    assert headings(document) == ["2 Results > 2.1 Cells"]
    assert texts(document) == [long, "First.", "Second."]
    assert "repeated paragraphs left out: 1" in document.notes


def test_short_paragraph_may_recur() -> None:
    assert texts(read_tei(tei(div("Proofs", "See above.", "See above.")))) == ["See above.", "See above."]


def test_back_matter_becomes_sections() -> None:
    back = (
        f'<div type="acknowledgement">{div("Thanks", "We thank all.")}</div>'
        f'<div type="funding">{div("", "Money came.")}</div><listOrg type="funding"><org>Fund</org></listOrg>'
        f'<div type="annex">{div("", "An annex begins.")}{div("A Samples", "Samples follow.")}</div>'
        '<div type="references"><listBibl/></div>'
    )
    document = read_tei(tei(div("End", "We end."), back=back))
    assert headings(document) == ["End", "Thanks", "Funding", "Appendix", "A Samples"]


# Text and sentences


def test_sentences_without_space_between_are_joined_with_one() -> None:
    document = read_tei(tei(div("A", "<s>It works <ref>[2]</ref>.</s><s>The rest fails.</s>")))
    assert sentences(document.sections[0]) == ["It works [2].", "The rest fails."]
    assert texts(document) == ["It works [2]. The rest fails."]


def test_sentence_cut_at_an_abbreviation_is_joined() -> None:
    document = read_tei(tei(div("A", "<s>As in Smith et al.</s><s>used before, see Fig.</s><s>3 there.</s>")))
    assert sentences(document.sections[0]) == ["As in Smith et al. used before, see Fig. 3 there."]


def test_paragraph_without_marked_sentences_is_split() -> None:
    document = read_tei(tei(div("A", "We use the dataset.We also test it. See Fig. 2.")))
    assert sentences(document.sections[0]) == ["We use the dataset.", "We also test it.", "See Fig. 2."]


def test_text_outside_marked_sentences_is_kept() -> None:
    document = read_tei(tei(div("A", "Before all. <s>One.</s><ref>[3]</ref> <s>Two.</s> After all.")))
    assert sentences(document.sections[0]) == ["Before all.", "One. [3]", "Two.", "After all."]


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("keys <ref>[1,</ref><ref>2]</ref>.", "keys [1, 2]."),
        ("as <ref>(Lee, 2019;</ref><ref>Kim, 2020)</ref> say", "as (Lee, 2019; Kim, 2020) say"),
        ("the kernel<ref>[53]</ref>and more", "the kernel [53] and more"),
        ("in Table<ref>7</ref>shows", "in Table 7 shows"),
        ("see Figure <ref>2</ref>a and S<ref>1</ref>.", "see Figure 2a and S1."),
        ("see <ref>[10]</ref><ref>[11]</ref>", "see [10][11]"),
        ("the <rs>Fund</rs>ing of <hi>x</hi>2", "the Funding of x2"),
        ("cut Article <ref>https://doi.org/10.1038/s41477-1</ref> here", "cut here"),
        ("a note<note>apart</note>here", "a note here"),
    ],
)
def test_references_in_the_text_keep_their_spacing(source: str, expected: str) -> None:
    assert texts(read_tei(tei(div("A", source))))[0] == expected


def test_paragraph_split_by_a_column_is_joined() -> None:
    document = read_tei(
        tei(div("A", "The costs of the", "method are low. It works.", "New one.", "t-SNE is old."))
    )
    assert texts(document) == ["The costs of the method are low. It works.", "New one.", "t-SNE is old."]


def test_formula_stays_in_its_paragraph() -> None:
    body = "<div><p>The loss is</p><formula>L = 1 - d .<label>(3)</label></formula><p>where d is.</p></div>"
    assert texts(read_tei(tei(body))) == ["The loss is L = 1 - d . (3) where d is."]


def test_encoded_annotation_of_a_figure_is_left_out() -> None:
    soup = "&lt; l a t e x i t s h a 1 _ b a s e 6 4 = &gt; " + "A b 9 " * 30
    document = read_tei(tei(div("A", "Text.") + f"<figure><figDesc>{soup}</figDesc></figure>"))
    assert texts(document) == ["Text."]


def test_text_directly_in_divisions_and_lists_is_kept() -> None:
    body = "Loose. <div>Direct. <list><item>One thing.</item><item>Two things.</item></list> Tail.</div> End."
    assert texts(read_tei(tei(body))) == ["Loose.", "Direct.", "One thing.", "Two things.", "Tail.", "End."]


def test_nested_division_is_read_once() -> None:
    body = "<div><head n='1'>One</head><p>First.</p><div><head n='1.1'>Sub</head><p>Second.</p></div></div>"
    document = read_tei(tei(body))
    assert (headings(document), texts(document)) == (["1 One", "1 One > 1.1 Sub"], ["First.", "Second."])


# Boxes


def test_sentence_has_its_own_boxes_and_empty_coordinates_none() -> None:
    paragraph = '<s coords="1,10,20,30,8.5;2,10.5,20,30,8">One.</s><s coords="">Two.</s>'
    found = read_tei(tei(div("A", paragraph))).sections[0].paragraphs[0].sentences
    assert found[0].boxes == (Box(1, 10, 20, 30, 8.5), Box(2, 10.5, 20, 30, 8))
    assert found[1].boxes == ()


def test_boxes_of_a_paragraph_are_those_of_its_only_sentence() -> None:
    body = '<div><p coords="1,1,1,5,5;2,1,1,5,5">It works <ref coords="1,7,1,2,5">[1]</ref>.</p></div>'
    found = read_tei(tei(body)).sections[0].paragraphs[0].sentences
    assert found[0].boxes == (Box(1, 1, 1, 5, 5), Box(1, 7, 1, 2, 5), Box(2, 1, 1, 5, 5))


def test_boxes_of_a_paragraph_are_not_shared_by_its_sentences() -> None:
    found = read_tei(tei('<div><p coords="1,1,1,5,5">It works. It does.</p></div>')).sections[0].paragraphs[0]
    assert [sentence.boxes for sentence in found.sentences] == [(), ()]


def test_joined_sentence_keeps_the_boxes_of_both_parts() -> None:
    body = div(
        "A", '<s coords="1,1,700,5,5">The costs of the</s>', '<s coords="2,1,50,5,5">method are low.</s>'
    )
    found = read_tei(tei(body)).sections[0].paragraphs[0].sentences
    assert [box.page for box in found[0].boxes] == [1, 2]


@pytest.mark.parametrize(
    "coords", ["1,2,3", "a,1,1,1,1", "0,1,1,1,1", "1,nan,1,1,1", "1,1e999,1,1,1", "1,1,1,1,1,1"]
)
def test_broken_coordinates_are_refused(coords: str) -> None:
    with pytest.raises(ParseError, match="coordinates"):
        read_tei(tei(div("A", f'<s coords="{coords}">One.</s>')))


def test_page_count_comes_from_the_facsimile() -> None:
    facsimile = '<facsimile><surface n="1"/><surface n="2"/></facsimile>'
    assert read_tei(tei(div("A", "One."), facsimile=facsimile)).page_count == 2
    assert read_tei(tei(div("A", "One."))).page_count == 0


# Figures and notes


def figure(head: str, label: str, description: str, identifier: str = "fig_0") -> str:
    return (
        f'<figure xml:id="{identifier}"><head>{head}</head><label>{label}</label>'
        f"<figDesc>{description}</figDesc><table><row><cell>1</cell></row></table></figure>"
    )


@pytest.mark.parametrize(
    ("parts", "expected"),
    [
        (("Figure 1 :", "1", "Figure 1: A workflow."), "Figure 1: A workflow."),
        (("Table 1 .", "1", "Feedback rubric."), "Table 1. Feedback rubric."),
        (("Fig. 2 .Fig. 3 .", "23", "Fig. 2. Progress."), "Fig. 2. Progress."),
        (("Yes, COVID-", "19", "vaccines work."), "Yes, COVID- 19 vaccines work."),
        (("", "", "A plot of it."), "A plot of it."),
        (("Figure 3 .", "3", "Figure 3. Impact of it. It is large."), "Figure 3. Impact of it. It is large."),
    ],
)
def test_caption_has_its_label_once(parts: tuple[str, str, str], expected: str) -> None:
    caption = read_tei(tei(div("A", "Text.") + figure(*parts))).sections[-1].paragraphs[0]
    assert (caption.kind, caption.text) == ("caption", expected)
    assert not caption.sentences[0].text.rstrip(".:").endswith("3")


def test_empty_and_repeated_figures_are_left_out() -> None:
    one = figure("Fig. 1 .", "1", "Fig. 1. A plot.")
    document = read_tei(tei(div("A", "Text.") + figure("", "", "") + one + one))
    assert texts(document) == ["Text.", "Fig. 1. A plot."]


def test_repeated_xml_id_does_not_cost_the_paper() -> None:
    twice = figure("Fig. 1 .", "1", "Fig. 1. A plot.") + figure("Fig. 2 .", "2", "Fig. 2. Another.")
    assert texts(read_tei(tei(div("A", "Text.") + twice)))[1:] == ["Fig. 1. A plot.", "Fig. 2. Another."]


def test_caption_and_note_stand_in_the_section_that_refers_to_them() -> None:
    refer = 'See <ref target="#fig_1">1</ref> and <ref type="foot" target="#foot_0">2</ref>.'
    asides = (
        figure("Fig. 1 .", "1", "Fig. 1. Used.", "fig_1")
        + figure("Fig. 2 .", "2", "Fig. 2. Unused.", "fig_2")
        + '<note place="foot" n="2" xml:id="foot_0">A footnote.</note><note place="foot">A lone note.</note>'
    )
    document = read_tei(tei(div("One", refer) + div("Two", "Text.") + asides))
    assert headings(document) == ["One", "Two", "Figures and tables", "Notes"]
    kinds = [[paragraph.kind for paragraph in section.paragraphs] for section in document.sections]
    assert kinds == [["body", "caption", "note"], ["body"], ["caption"], ["note"]]


def test_running_head_taken_for_a_note_is_left_out() -> None:
    notes = '<note place="foot">Nature Plants | Volume 9 | September 2023 | 1468-1480</note>'
    assert texts(read_tei(tei(div("A", "Text.") + notes))) == ["Text."]


# Header


def person(first: str, family: str) -> str:
    name = f'<forename type="first">{first}</forename><surname>{family}</surname>'
    return f"<author><persName>{name}</persName></author>"


def test_authors_are_persons_and_collaborations() -> None:
    inner = (
        '<author><persName><roleName>PhD</roleName><forename type="first">Ada</forename>'
        '<forename type="middle">K</forename><surname>Lovelace</surname><genName>Jr</genName></persName>'
        "<affiliation><orgName>Google Brain</orgName></affiliation></author>"
        + person("Google", "Brain")
        + person("", "Plato")
        + person("&amp;", "Sheng")
        + person("", "Introduction")
        + "<author><affiliation><orgName>University of Here</orgName></affiliation></author>"
        + '<author><orgName type="collaboration">ATLAS Collaboration</orgName></author>'
        + person("", "Plato")
    )
    document = read_tei(tei(div("A", "Text."), header=source_desc(f"<analytic>{inner}</analytic>")))
    assert document.authors == (
        Author("Ada K", "Lovelace Jr"),
        Author("", "Plato"),
        Author("", "Sheng"),
        Author("", "ATLAS Collaboration"),
    )


def test_author_without_person_is_a_left_over_affiliation() -> None:
    inner = "<analytic><author><affiliation><orgName>Keio</orgName></affiliation></author></analytic>"
    assert read_tei(tei(div("A", "Text."), header=source_desc(inner))).authors == ()


def test_identifiers_are_cut_and_those_of_authors_left() -> None:
    inner = (
        '<analytic><author><persName><surname>Li</surname></persName><idno type="DOI">10.1/no</idno></author>'
        '</analytic><idno type="DOI">https://doi.org/10.1186/s12984-016-0129-6</idno>'
        '<idno type="arXiv">arXiv:2312.07559v2[cs.CL]</idno>'
    )
    document = read_tei(tei(div("A", "Text."), header=source_desc(inner)))
    assert (document.doi, document.arxiv_id) == ("10.1186/s12984-016-0129-6", "2312.07559v2")


@pytest.mark.parametrize(
    ("date", "year"),
    [
        ('<date type="published" when="2023-12-14">14 Dec 2023</date>', 2023),
        ('<date type="published">June 13, 2019</date>', 2019),
        ("<date/>", None),
        ('<date when="0000">n.d.</date>', None),
    ],
)
def test_year_is_read_where_there_is_one(date: str, year: int | None) -> None:
    header = f"<fileDesc><publicationStmt>{date}</publicationStmt></fileDesc>"
    assert read_tei(tei(div("A", "Text."), header=header)).year == year


@pytest.mark.parametrize(
    "keywords", ["<term>one</term><term>two words.</term>", "one; two words", "one, two words."]
)
def test_keywords_are_separated(keywords: str) -> None:
    header = f"<profileDesc><textClass><keywords>{keywords}</keywords></textClass></profileDesc>"
    assert read_tei(tei(div("A", "Text."), header=header)).keywords == ("one", "two words")


def test_structured_abstract_keeps_its_headings() -> None:
    inner = "<div><p>Background: It was.</p></div><div><head>Methods</head><p>: It is. So.</p></div>"
    found = read_tei(tei(header=abstract(inner))).abstract
    assert [(paragraph.kind, paragraph.text) for paragraph in found] == [
        ("abstract", "Background: It was."),
        ("abstract", "Methods: It is. So."),
    ]


def test_abstract_left_in_the_body_is_moved() -> None:
    document = read_tei(tei(div("Abstract", "In short.") + div("Introduction", "At length.")))
    assert [paragraph.text for paragraph in document.abstract] == ["In short."]
    assert headings(document) == ["Introduction"]


# Bibliography


def bibliography(*entries: str) -> Document:
    inner = "".join(f"<biblStruct>{entry}</biblStruct>" for entry in entries)
    return read_tei(tei(div("A", "Text."), back=f'<div type="references"><listBibl>{inner}</listBibl></div>'))


def test_reference_is_printed_as_it_stood_or_composed() -> None:
    parts = (
        f'<analytic><title level="a">On it</title>{person("Ada", "Lovelace")}'
        '<idno type="DOI">10.1000/xyz</idno></analytic>'
        '<monogr><title level="j">Journal</title><imprint><biblScope unit="volume">7</biblScope>'
        '<biblScope unit="issue">1</biblScope><biblScope unit="page" from="3" to="9"/>'
        '<date when="2014-05">2014</date></imprint></monogr>'
    )
    raw = '<note type="raw_reference">A. Lovelace. 2014. On it.</note>'
    composed, printed = bibliography(parts, parts + raw).references
    assert composed.text == "Ada Lovelace. On it. Journal 7(1):3-9. 2014. doi:10.1000/xyz"
    assert printed.text == "A. Lovelace. 2014. On it."
    assert (printed.title, printed.authors, printed.year, printed.doi) == (
        "On it",
        ("Ada Lovelace",),
        2014,
        "10.1000/xyz",
    )


def test_book_has_its_title_from_the_monograph_and_an_empty_entry_is_left_out() -> None:
    (book,) = bibliography(
        f'<monogr>{person("Ada", "Lovelace")}<title level="m">Book</title></monogr>', ""
    ).references
    assert (book.title, book.authors, book.year) == ("Book", ("Ada Lovelace",), None)


# What is refused

ENTITIES = "".join(
    f'<!ENTITY {new} "{f"&{old};" * 10}">' for old, new in zip("abcdefgh", "bcdefghi", strict=True)
)
LAUGHS = f'<!DOCTYPE TEI [<!ENTITY a "ha">{ENTITIES}]><TEI>&i;</TEI>'
STOLEN = '<!DOCTYPE TEI [<!ENTITY x SYSTEM "file:///etc/passwd">]><TEI>&x;</TEI>'
HIDDEN = '<?xml version="1.0"?><!-- x --> <!DOCTYPE TEI SYSTEM "http://example.org/x.dtd"><TEI/>'
REFUSED = {
    "empty": (b"", "empty"),
    "truncated": (tei(div("A", "One."))[:-40], "cut off"),
    "ill-formed": (b"<TEI><p>one</TEI>", "well-formed"),
    "error text": (b"[NO_BLOCKS] PDF parsing resulted in empty content", "well-formed"),
    "HTML page": (b"<!DOCTYPE html><html><body/></html>", "HTML"),
    "HTML without doctype": (b"<html><body/></html>", "root element is <html>"),
    "external entity": (STOLEN.encode(), "document type"),
    "document type behind a comment": (HIDDEN.encode(), "document type"),
    "billion laughs": (LAUGHS.encode(), "document type"),
    "unknown entity": (b"<TEI>&nbsp;</TEI>", "well-formed"),
    "another encoding": ("<TEI>é</TEI>".encode("latin-1"), "UTF-8"),
    "UTF-16": ("<TEI/>".encode("utf-16"), "UTF-8"),
    "too deep": (tei(div("A", "<hi>" * 150 + "deep" + "</hi>" * 150)), "deep"),
    "far too deep": (tei(div("A", "<hi>" * 5000 + "deep" + "</hi>" * 5000)), "well-formed"),
    "too large": (b"<TEI>" + b" " * LARGEST_TEI, "larger than 32 MiB"),
}


@pytest.mark.parametrize(("source", "reason"), REFUSED.values(), ids=REFUSED)
def test_what_is_no_tei_is_refused(source: bytes, reason: str) -> None:
    with pytest.raises(ParseError, match=reason):
        read_tei(source)


def test_missing_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ParseError, match="cannot be read"):
        read_tei(tmp_path / "none.tei.xml")
    with pytest.raises(ParseError, match="cannot be read"):
        read_tei(tmp_path)


def test_file_reads_as_its_bytes(tmp_path: Path) -> None:
    source = b"\xef\xbb\xbf" + tei(div("A", "Text."))
    file = tmp_path / "a.tei.xml"
    file.write_bytes(source)
    assert read_tei(file) == read_tei(source)


def test_control_characters_and_noncharacters_are_removed() -> None:
    source = "infor\ufffema\x0btion&#xFFFE; &#2;is\u00ad &#xD800;here\u200b."
    assert texts(read_tei(tei(div("A", source)))) == ["information is here."]


# Properties

# Letters that spell no abbreviation, at which sentences would be joined.
WORD = st.text(alphabet="kqwxyz", min_size=3, max_size=8)
SENTENCE = st.lists(WORD, min_size=1, max_size=6).map(lambda words: " ".join(words).capitalize() + ".")
PARAGRAPH = st.lists(SENTENCE, min_size=1, max_size=4)


@given(st.lists(st.lists(PARAGRAPH, max_size=3), min_size=1, max_size=4), st.booleans(), st.booleans())
def test_text_is_neither_lost_nor_glued_and_boxes_fit(
    divisions: list[list[list[str]]], marked: bool, referring: bool
) -> None:
    """Every word of every paragraph comes back in order; a marked sentence has exactly the boxes it had."""
    count = 0

    def mark(sentence: str) -> str:
        nonlocal count
        count += 1
        text = escape(sentence[:-1]) + ("<ref>[1]</ref>" if referring else "") + "."
        return f'<s coords="{count},1,1,1,1">{text}</s>' if marked else f"{text} "

    body = "".join(
        div(f"Part {chr(65 + place)} here", *("".join(map(mark, paragraph)) for paragraph in paragraphs))
        for place, paragraphs in enumerate(divisions)
    )
    document = read_tei(tei(body, header=abstract("<p>Abstract.</p>")))
    reference = " [1]" if referring else ""
    written = [
        " ".join(f"{sentence[:-1]}{reference}." for sentence in paragraph)
        for paragraphs in divisions
        for paragraph in paragraphs
    ]
    is_long = [text for text in written if len(text.split()) >= 8]
    if len(is_long) > len(set(is_long)):
        return
    assert " ".join(texts(document)) == " ".join(written)
    found = [
        sentence
        for section in document.sections
        for paragraph in section.paragraphs
        for sentence in paragraph.sentences
    ]
    assert [sentence.boxes for sentence in found] == [
        (Box(place, 1, 1, 1, 1),) if marked else () for place in range(1, count + 1)
    ]


@given(st.binary(max_size=200))
def test_any_bytes_give_a_document_or_a_parse_error(source: bytes) -> None:
    try:
        assert isinstance(read_tei(source), Document)
    except ParseError as error:
        assert str(error)


TAGS = "body back div head p s ref formula figure figDesc label note list item listBibl biblStruct".split()
TREE = st.recursive(
    st.text(alphabet="aB1 .,()[]\x0b<&", max_size=6).map(escape),
    lambda inner: st.builds(
        lambda tag, parts: f"<{tag}>{''.join(parts)}</{tag}>",
        st.sampled_from(TAGS),
        st.lists(inner, max_size=4),
    ),
    max_leaves=25,
)


@given(TREE)
def test_any_tree_of_tei_elements_gives_a_document_or_a_parse_error(inner: str) -> None:
    try:
        document = read_tei(tei(inner))
    except ParseError:
        return
    for section in document.sections:
        for paragraph in section.paragraphs:
            assert paragraph.sentences
            assert all(
                sentence.text and sentence.text == sentence.text.strip() for sentence in paragraph.sentences
            )
