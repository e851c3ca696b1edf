"""Text, sentences, captions and boxes of TEI: GROBID's surprises one by one."""

import pytest

from corpus.records import Box
from indexer.parsers.tei.document import read_tei
from tests.indexer.parsers.small_tei import abstract, div, headings, sentences, tei, texts


def test_sentences_are_joined_split_and_kept_as_they_are_marked() -> None:
    document = read_tei(tei(div("A", "<s>It works <ref>[2]</ref>.</s><s>The rest fails.</s>")))
    assert sentences(document.sections[0]) == ["It works [2].", "The rest fails."]
    assert texts(document) == ["It works [2]. The rest fails."]
    document = read_tei(tei(div("A", "<s>As in Smith et al.</s><s>used before, see Fig.</s><s>3 there.</s>")))
    assert sentences(document.sections[0]) == ["As in Smith et al. used before, see Fig. 3 there."]
    document = read_tei(tei(div("A", "We use the dataset.We also test it. See Fig. 2.")))
    assert sentences(document.sections[0]) == ["We use the dataset.", "We also test it.", "See Fig. 2."]
    document = read_tei(tei(div("A", "Before all. <s>One.</s><ref>[3]</ref> <s>Two.</s> After all.")))
    assert sentences(document.sections[0]) == ["Before all.", "One. [3]", "Two.", "After all."]


def test_a_raised_number_behind_a_stop_stays_with_its_sentence() -> None:
    """Regression: "7 Based on ..." opened the next sentence."""
    back = "".join(
        f'<biblStruct xml:id="b{n}"><note type="raw_reference">E{n}</note></biblStruct>' for n in "678"
    )
    source = (
        'It leads to death. <ref type="bibr" target="#b6">7</ref>, '
        '<ref type="bibr" target="#b7">8</ref> Based on it, '
        'we act. <ref type="bibr" target="#b8">9</ref> mice died.'
    )
    document = read_tei(tei(div("A", source), back=f"<listBibl>{back}</listBibl>"))
    assert sentences(document.sections[0]) == [
        "It leads to death. 7, 8",
        "Based on it, we act.",
        "9 mice died.",
    ]


def test_figures_are_captions_once() -> None:
    body = f"<div><head>One</head><p>Text.</p>{figure('Fig. 1 .', '1', 'Fig. 1. A plot.')}<p>More.</p></div>"
    document = read_tei(tei(body))
    assert texts(document) == ["Text.", "More.", "Fig. 1. A plot."]
    caption = figure("Fig. 1 .", "1", "Fig. 1. A plot.")
    document = read_tei(tei(div("A", "Text.") + figure("", "", "") + caption + caption))
    assert texts(document) == ["Text.", "Fig. 1. A plot."]
    twice = figure("Fig. 1 .", "1", "Fig. 1. A plot.") + figure("Fig. 2 .", "2", "Fig. 2. Another.")
    assert texts(read_tei(tei(div("A", "Text.") + twice)))[1:] == ["Fig. 1. A plot.", "Fig. 2. Another."]
    notes = '<note place="foot">Nature Plants | Volume 9 | September 2023 | 1468-1480</note>'
    assert texts(read_tei(tei(div("A", "Text.") + notes))) == ["Text."]


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


def test_paragraphs_formulas_and_lists_keep_their_text_and_place() -> None:
    document = read_tei(
        tei(div("A", "The costs of the", "method are low. It works.", "New one.", "t-SNE is old."))
    )
    assert texts(document) == ["The costs of the method are low. It works.", "New one.", "t-SNE is old."]
    body = "<div><p>The loss is</p><formula>L = 1 - d .<label>(3)</label></formula><p>where d is.</p></div>"
    assert texts(read_tei(tei(body))) == ["The loss is L = 1 - d . (3) where d is."]
    soup = "&lt; l a t e x i t s h a 1 _ b a s e 6 4 = &gt; " + "A b 9 " * 30
    document = read_tei(tei(div("A", "Text.") + f"<figure><figDesc>{soup}</figDesc></figure>"))
    assert texts(document) == ["Text."]
    body = "Loose. <div>Direct. <list><item>One thing.</item><item>Two things.</item></list> Tail.</div> End."
    assert texts(read_tei(tei(body))) == ["Loose.", "Direct.", "One thing.", "Two things.", "Tail.", "End."]
    body = "<div><head n='1'>One</head><p>First.</p><div><head n='1.1'>Sub</head><p>Second.</p></div></div>"
    document = read_tei(tei(body))
    assert (headings(document), texts(document)) == (["1 One", "1 One > 1.1 Sub"], ["First.", "Second."])


def test_sentences_have_the_boxes_that_are_theirs() -> None:
    paragraph = '<s coords="1,10,20,30,8.5;2,10.5,20,30,8">One.</s><s coords="">Two.</s>'
    found = read_tei(tei(div("A", paragraph))).sections[0].paragraphs[0].sentences
    assert found[0].boxes == (Box(1, 10, 20, 30, 8.5), Box(2, 10.5, 20, 30, 8))
    assert found[1].boxes == ()
    body = '<div><p coords="1,1,1,5,5;2,1,1,5,5">It works <ref coords="1,7,1,2,5">[1]</ref>.</p></div>'
    found = read_tei(tei(body)).sections[0].paragraphs[0].sentences
    assert found[0].boxes == (Box(1, 1, 1, 5, 5), Box(1, 7, 1, 2, 5), Box(2, 1, 1, 5, 5))
    body = '<div><p coords="1,1,1,5,5">It works. It does.</p></div>'
    found = read_tei(tei(body)).sections[0].paragraphs[0].sentences
    assert [sentence.boxes for sentence in found] == [(), ()]
    body = div(
        "A", '<s coords="1,1,700,5,5">The costs of the</s>', '<s coords="2,1,50,5,5">method are low.</s>'
    )
    found = read_tei(tei(body)).sections[0].paragraphs[0].sentences
    assert [box.page for box in found[0].boxes] == [1, 2]


WHOLE = "<fileDesc><titleStmt><title>Whole</title></titleStmt></fileDesc>" + abstract("<p>In short.</p>")
FACSIMILE = '<facsimile><surface n="1" ulx="0" uly="0" lrx="612" lry="792"/><surface n="2"/></facsimile>'


@pytest.mark.parametrize(
    "coords",
    [
        "1,2,3",
        "a,1,1,1,1",
        "0,1,1,1,1",
        "1,nan,1,1,1",
        "1,1e999,1,1,1",
        "1,1,1,1,1,1",
        "1,1,1,0,5",
        "1,1,1,5,-5",
        "3,1,1,5,5",
        "99999999999999999999,1,1,5,5",
        "1,-200,1,5,5",
        "1,600,1,500,5",
        "1,1,900,5,5",
        "2,1,20000,5,5",
    ],
)
def test_a_box_that_cannot_be_costs_itself_and_not_the_paper(coords: str) -> None:
    """Regression: one broken @coords refused the whole file."""
    paragraph = f'<s coords="1,10,20,30,8;{coords}">One.</s><s coords="{coords};2,1,1,5,5">Two.</s>'
    document = read_tei(tei(div("A", paragraph), facsimile=FACSIMILE, header=WHOLE))
    found = document.sections[0].paragraphs[0].sentences
    assert [sentence.boxes for sentence in found] == [(Box(1, 10, 20, 30, 8),), (Box(2, 1, 1, 5, 5),)]
    assert document.notes == ("2 boxes could not be read",)


def test_the_facsimile_counts_pages_and_without_one_boxes_may_be_on_any() -> None:
    document = read_tei(tei(div("A", '<s coords="31,1,1,5,5;x">One.</s>'), header=WHOLE))
    assert document.sections[0].paragraphs[0].sentences[0].boxes == (Box(31, 1, 1, 5, 5),)
    assert document.notes == ("1 box could not be read",)
    facsimile = '<facsimile><surface n="1"/><surface n="2"/></facsimile>'
    assert read_tei(tei(div("A", "One."), facsimile=facsimile)).page_count == 2
    assert read_tei(tei(div("A", "One."))).page_count == 0


@pytest.mark.parametrize(
    "surface", ['n="x"', 'n=""', "", 'n="1" ulx="0" uly="0" lrx="a" lry="9"', 'n="1" lrx="nan"']
)
def test_a_broken_surface_is_no_measure(surface: str) -> None:
    facsimile = f'<facsimile><surface {surface}/><surface n="1" lrx="9"/></facsimile>'
    document = read_tei(
        tei(div("A", '<s coords="1,500,700,5,5">One.</s>'), facsimile=facsimile, header=WHOLE)
    )
    assert (document.page_count, document.notes) == (1, ())


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


def test_caption_and_note_stand_in_the_section_that_refers_to_them() -> None:
    refer = 'See <ref target="#fig_1">1</ref> and <ref type="foot" target="#foot_0">2</ref>.'
    floats = (
        figure("Fig. 1 .", "1", "Fig. 1. Used.", "fig_1")
        + figure("Fig. 2 .", "2", "Fig. 2. Unused.", "fig_2")
        + '<note place="foot" n="2" xml:id="foot_0">A footnote.</note><note place="foot">A lone note.</note>'
    )
    document = read_tei(tei(div("One", refer) + div("Two", "Text.") + floats))
    assert headings(document) == ["One", "Two", "Figures and tables", "Notes"]
    kinds = [[paragraph.kind for paragraph in section.paragraphs] for section in document.sections]
    assert kinds == [["body", "caption", "note"], ["body"], ["caption"], ["note"]]
