"""Word files as they are written: shifted figures, symbols, formulas, fields, tables in tables."""

import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import docx
import pytest

from indexer.errors import ParseError
from indexer.parsers.document import Document
from indexer.parsers.registry import read_document
from tests.indexer.parsers.small_tei import texts
from tests.indexer.parsers.test_docx_text import document_xml, repacked
from tests.indexer.parsers.test_hidden_docx_text import element


def run(text: str, properties: str = "") -> str:
    return f'<w:r><w:rPr>{properties}</w:rPr><w:t xml:space="preserve">{text}</w:t></w:r>'


def raised(text: str) -> str:
    return run(text, '<w:vertAlign w:val="superscript"/>')


def lowered(text: str) -> str:
    return run(text, '<w:vertAlign w:val="subscript"/>')


def paragraph(*content: str) -> str:
    return f"<w:p>{''.join(content)}</w:p>"


def sign(font: str, place: str) -> str:
    return f'<w:r><w:sym w:font="{font}" w:char="{place}"/></w:r>'


def mark(kind: str) -> str:
    return f'<w:r><w:fldChar w:fldCharType="{kind}"/></w:r>'


def code(text: str) -> str:
    return f'<w:r><w:instrText xml:space="preserve"> {text} </w:instrText></w:r>'


DELETED = "<w:pPr><w:rPr><w:del/></w:rPr></w:pPr>"


def read(folder: Path, *content: str, styles: str = "") -> Document:
    file = docx.Document()
    file.add_heading("On mills", 0)
    if styles:
        file.styles.element.append(element(styles))
    for part in content:
        file.element.body.insert(-1, element(part))
    file.save(str(folder / "a.docx"))
    return read_document(folder / "a.docx")


RAISED_STYLE = (
    '<w:style w:type="character" w:styleId="Up"><w:name w:val="Up"/>'
    '<w:rPr><w:vertAlign w:val="superscript"/></w:rPr></w:style>'
)


@pytest.mark.parametrize(
    ("runs", "text"),
    [
        (run("It grinds 10") + raised("6") + run(" grains."), "It grinds 10⁶ grains."),
        (
            run("10") + raised("−") + raised("3") + run(" and 2") + raised("10 ") + run("sacks"),
            "10⁻³ and 2¹⁰ sacks",
        ),
        (run("a 2") + raised("n") + raised("+1") + run(" fold"), "a 2^{n+1} fold"),
        (run("CO") + lowered("2") + run(" and x") + lowered("i") + raised("2"), "CO₂ and x_i²"),
        (run("the 19") + raised("th") + run(" mill") + raised("*"), "the 19th mill*"),
        (run("10") + run("4", '<w:rStyle w:val="Up"/>'), "10⁴"),
        (run("10") + run("4", '<w:position w:val="8"/><w:sz w:val="14"/>') + run(" km"), "10⁴ km"),
        (run("Mills") + raised("1,2") + run(" turn."), "Mills^{1,2} turn."),
        (run("Mills ") + raised("that stand on a hill turn") + run("."), "Mills that stand on a hill turn."),
        (sign("Symbol", "F062") + run("-value ") + sign("Symbol", "00A3") + run(" 5"), "β-value ≤ 5"),
        (run("\uf06d", '<w:rFonts w:ascii="Symbol" w:hAnsi="Symbol"/>') + run("m"), "μm"),
        (run("a ", '<w:rFonts w:ascii="Symbol" w:hAnsi="Symbol"/>') + run("a"), "α a"),
        (run("done ") + sign("Wingdings", "F0FC") + sign("Wingdings", "F0E0"), "done ✓→"),
        (run("x ") + sign("Cambria Math", "2265") + run(" y"), "x ≥ y"),
        (
            run("co") + "<w:r><w:softHyphen/></w:r>" + run("gs") + "<w:r><w:noBreakHyphen/></w:r>" + run("x"),
            "cogs-x",
        ),
        (
            "<w:r><w:ruby><w:rt><w:r><w:t>みず</w:t></w:r></w:rt><w:rubyBase><w:r><w:t>水</w:t></w:r>"
            "</w:rubyBase></w:ruby></w:r>",
            "水",
        ),
        (mark("begin") + code('SYMBOL 97 \\f "Symbol" \\s 12') + mark("end") + run(" rays"), "α rays"),
        (mark("begin") + code('XE "mill"') + mark("end") + run("Mills."), "Mills."),
        (
            mark("begin")
            + code("IF")
            + mark("begin")
            + code("PAGE")
            + mark("separate")
            + run("1")
            + mark("end")
            + code('= 1 "a"')
            + mark("separate")
            + run("Mills turn.")
            + mark("end"),
            "Mills turn.",
        ),
        (mark("begin") + code("REF x") + run("Mills turn."), "Mills turn."),
        (mark("end") + run("Mills turn."), "Mills turn."),
        (
            run("Mills")
            + "<w:sdt><w:sdtPr><w:showingPlcHdr/></w:sdtPr><w:sdtContent>"
            + run(" Click here.")
            + "</w:sdtContent></w:sdt>",
            "Mills",
        ),
        (
            run("Mills", "<w:vertAlign w:val='baseline'/>")
            + sign("Symbol", "F0B1").replace("<w:sym", "<w:rPr><w:vanish/></w:rPr><w:sym"),
            "Mills",
        ),
    ],
)
def test_fault_runs_read_as_they_are_shown(tmp_path: Path, runs: str, text: str) -> None:
    document = read(tmp_path, paragraph(run("Mills stand here.")), paragraph(runs), styles=RAISED_STYLE)
    assert (texts(document)[1:], document.notes) == ([text], ())


@pytest.mark.parametrize(
    ("content", "text", "remark"),
    [
        (
            paragraph(run("A "), sign("Mill Signs", "F041"), run(" b.")),
            "A □ b.",
            "1 sign of unknown symbol fonts",
        ),
        (
            paragraph(
                run("Let "), "<w:r><w:object><w:x ProgID='Equation.DSMT4'/></w:object></w:r>", run(" be.")
            ),
            "Let [formula] be.",
            "1 formula of an equation editor",
        ),
        (paragraph(mark("begin"), code("EQ \\f(1,2)"), mark("end")), "[formula]", "1 formula"),
        ("<w:altChunk/>", None, "1 inserted file cannot be read"),
    ],
    ids=["sign", "object", "field", "inserted"],
)
def test_fault_what_cannot_be_read_is_named(
    tmp_path: Path, content: str, text: str | None, remark: str
) -> None:
    document = read(tmp_path, paragraph(run("Mills stand here.")), content)
    assert texts(document)[1:] == ([text] if text else [])
    assert [note for note in document.notes if remark in note]


def m(name: str, *inside: str) -> str:
    return f"<m:{name}>{''.join(inside)}</m:{name}>"


def t(text: str) -> str:
    return f"<m:r><m:t>{text}</m:t></m:r>"


def value(name: str, content: str) -> str:
    return f'<m:{name} m:val="{content}"/>'


@pytest.mark.parametrize(
    ("formula", "text"),
    [
        (m("f", m("num", t("a+b")), m("den", t("2c"))), "(a+b)/(2c)"),
        (m("f", m("num", t("1")), m("den", t("n"))), "1/n"),
        (m("f", m("fPr", value("type", "noBar")), m("num", t("n")), m("den", t("k"))), "n choose k"),
        (m("sSup", m("e", t("10")), m("sup", t("−6"))), "10⁻⁶"),
        (m("sSup", m("e", t("a+b")), m("sup", t("2"))), "(a+b)²"),
        (m("sSup", m("e", m("sSup", m("e", t("x")), m("sup", t("2")))), m("sup", t("3"))), "(x²)³"),
        (m("sSubSup", m("e", t("x")), m("sub", t("i")), m("sup", t("2"))), "x_i²"),
        (m("sPre", m("sub", t("2")), m("sup", t("4")), m("e", t("He"))), "₂⁴He"),
        (m("rad", m("deg", t("3")), m("e", t("x+1"))), "∛(x+1)"),
        (
            m("nary", m("naryPr", value("chr", "∏")), m("sub", t("k=1")), m("sup", t("m")), m("e", t("a"))),
            "∏ (k=1..m) a",
        ),
        (m("nary", m("sub", t("0")), m("sup", t("1")), m("e", t("f"))), "∫ (0..1) f"),
        (
            m("nary", m("naryPr", value("chr", "∑")), m("sub", t("i∈S")), m("sup"), m("e", t("w"))),
            "∑ (i∈S) w",
        ),
        (m("d", m("e", t("x")), m("e", t("y"))), "(x|y)"),
        (
            m(
                "d",
                m("dPr", value("begChr", "{"), value("endChr", "")),
                m("e", m("eqArr", m("e", t("a")), m("e", t("b")))),
            ),
            "{a; b",
        ),
        (
            m(
                "d",
                m(
                    "e",
                    m("m", m("mr", m("e", t("1")), m("e", t("2"))), m("mr", m("e", t("3")), m("e", t("4")))),
                ),
            ),
            "(1, 2; 3, 4)",
        ),
        (m("func", m("fName", t("sin")), m("e", t("x"))), "sin x"),
        (
            m("func", m("fName", m("limLow", m("e", t("lim")), m("lim", t("n→∞")))), m("e", t("f"))),
            "lim (n→∞) f",
        ),
        (m("acc", m("e", t("y"))), "ŷ"),
        (m("bar", m("barPr", value("pos", "top")), m("e", t("x"))), "x̅"),
        (t("a") + m("phant", m("phantPr", value("show", "0")), m("e", t("b"))), "a"),
        (t("a") + f"<w:ins>{t('+b')}</w:ins><w:del>{t('+c')}</w:del>", "a+b"),
    ],
)
def test_fault_formulas_keep_their_form(tmp_path: Path, formula: str, text: str) -> None:
    for wrapped in (m("oMath", formula), m("oMathPara", m("oMath", formula))):
        document = read(tmp_path, paragraph(run("We set "), wrapped, run(" here.")))
        assert texts(document) == [f"We set {text} here."]


def cell(*content: str) -> str:
    return f"<w:tc>{''.join(content)}</w:tc>"


def row(*cells: str, properties: str = "") -> str:
    return f"<w:tr><w:trPr>{properties}</w:trPr>{''.join(cells)}</w:tr>"


def table(*rows: str) -> str:
    return f"<w:tbl>{''.join(rows)}</w:tbl>"


def words(text: str) -> str:
    return cell(paragraph(run(text)))


INNER = table(row(words("p1"), words("p2")), row(words("p3"), words("p4")))
BOX = (
    "<w:pict><v:textbox><w:txbxContent><w:p><w:r><w:t>In a box.</w:t></w:r></w:p></w:txbxContent></v:textbox>"
    "</w:pict>"
)


@pytest.mark.parametrize(
    ("content", "rows"),
    [
        (
            table(row(words("a"), words("b")), row(cell(paragraph(), INNER, paragraph()), words("9"))),
            ["a | b", "p1, p2; p3, p4 | 9"],
        ),
        (
            table(row(cell(paragraph(run("see")), table(row(cell(INNER), words("q")))), words("9"))),
            ["see p1, p2; p3, p4, q | 9"],
        ),
        (table(row(cell(INNER, paragraph()))), ["p1 | p2", "p3 | p4"]),
        (table(row(words("a"), words("b")), row(words("old"), words("1"), properties="<w:del/>")), ["a | b"]),
        (
            table(row(words("a"), words("b")), row(words("c"), properties="<w:gridBefore w:val='1'/>")),
            ["a | b", "| c"],
        ),
        (table(row(words("a"), f"<w:sdt><w:sdtContent>{words('b')}</w:sdtContent></w:sdt>")), ["a | b"]),
        (table(row(words("10"), cell(paragraph(run("10"), raised("6"))))), ["10 | 10⁶"]),
        (table(row(words("a"), cell(paragraph(run("b"), f"<w:r>{BOX}</w:r>")))), ["a | b", "In a box."]),
    ],
    ids=["inner", "twice", "frame", "deleted row", "skipped cell", "control", "raised", "box"],
)
def test_fault_tables_in_tables_are_read_once(tmp_path: Path, content: str, rows: list[str]) -> None:
    document = read(tmp_path, content)
    found = [s.text for section in document.sections for p in section.paragraphs for s in p.sentences]
    assert found == rows


def test_fault_deleted_marks_and_large_initials_cut_paragraphs(tmp_path: Path) -> None:
    document = read(
        tmp_path,
        paragraph(DELETED, run("Mills ")),
        paragraph(DELETED, run("turn ")),
        paragraph(run("slowly.")),
        paragraph(DELETED, run("The end.")),
    )
    assert texts(document) == ["Mills turn slowly.", "The end."]
    initial = f'<w:p><w:pPr><w:framePr w:dropCap="drop" w:lines="3"/></w:pPr>{run("M")}</w:p>'
    assert texts(read(tmp_path, initial, paragraph(run("ills stand here.")))) == ["Mills stand here."]


def test_fault_notes_and_boxes_are_read_once(tmp_path: Path) -> None:
    """Regression: a note in a table was lost, and a note in a text box was read twice."""
    file = docx.Document()
    file.add_heading("On mills", 0)
    note = '<w:r><w:footnoteReference w:id="2"/></w:r>'
    other = note.replace('"2"', '"3"')
    box = BOX.replace("In a box.</w:t></w:r>", f"In a box.</w:t></w:r>{other}")
    for part in (
        table(row(words("a"), cell(paragraph(run("b"), note)))),
        paragraph(run("Mills turn."), f"<w:r>{box}</w:r>"),
    ):
        file.element.body.insert(-1, element(part))
    notes = "".join(f'<w:footnote w:id="{n}"><w:p>{run(f"Note {n}")}</w:p></w:footnote>' for n in (2, 3))
    part = docx.opc.part.Part(
        docx.opc.packuri.PackURI("/word/footnotes.xml"),
        "application/vnd.openxmlformats-officedocument.wordprocessingml.footnotes+xml",
        document_xml("").split("<w:body>")[0].replace("w:document", "w:footnotes").encode()
        + f"{notes}</w:footnotes>".encode(),
        file.part.package,
    )
    file.part.relate_to(part, "http://schemas.openxmlformats.org/officeDocument/2006/relationships/footnotes")
    file.save(str(tmp_path / "a.docx"))
    found = [(p.kind, p.text) for s in read_document(tmp_path / "a.docx").sections for p in s.paragraphs]
    assert found == [
        ("body", "a | b"),
        ("note", "Note 2"),
        ("body", "Mills turn."),
        ("body", "In a box."),
        ("note", "Note 3"),
    ]


def saved(path: Path) -> Path:
    file = docx.Document()
    file.add_heading("On mills", 0)
    file.add_heading("Method", 1)
    file.add_paragraph("Mills turn.")
    file.save(str(path))
    return path


def _change(path: Path, change: Callable[[str, bytes], tuple[str, bytes]]) -> Path:
    with zipfile.ZipFile(path) as archive:
        parts = [change(name, archive.read(name)) for name in archive.namelist()]
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in parts:
            archive.writestr(name, content)
    return path


def _strict(name: str, content: bytes) -> tuple[str, bytes]:
    strict, usual = b"http://purl.oclc.org/ooxml/", b"http://schemas.openxmlformats.org/"
    for area in (b"officeDocument", b"wordprocessingml", b"drawingml"):
        content = content.replace(usual + area + b"/2006/", strict + area + b"/")
    return name, content.replace(b"extended-properties", b"extendedProperties")


def _typed(kind: str) -> Callable[[str, bytes], tuple[str, bytes]]:
    usual = b"openxmlformats-officedocument.wordprocessingml.document.main+xml"
    return lambda name, content: (name, content.replace(usual, kind.encode()))


def _with_lost_parts(name: str, content: bytes) -> tuple[str, bytes]:
    lost = b'<Relationship Id="rId99" Type="http://x/image" Target="../NULL"/></Relationships>'
    return name, content.replace(
        b"</Relationships>", lost
    ) if name == "word/_rels/document.xml.rels" else content


@pytest.mark.parametrize(
    "change",
    [
        _strict,
        _typed("ms-word.document.macroEnabled.main+xml"),
        _typed("openxmlformats-officedocument.wordprocessingml.template.main+xml"),
        _with_lost_parts,
        lambda name, content: (name.replace("word/styles", "word/Styles"), content),
        lambda name, content: (name.replace("/", "\\"), content),
    ],
    ids=["strict", "macros", "template", "lost part", "capitals", "backslashes"],
)
def test_fault_word_files_of_other_kinds_are_read(tmp_path: Path, change: Any) -> None:
    document = read_document(_change(saved(tmp_path / "a.docx"), change))
    assert (document.title, texts(document), document.notes) == ("On mills", ["Mills turn."], ())
    assert document.sections[0].path[0].title == "Method"


def test_an_opendocument_file_is_refused_with_advice(tmp_path: Path) -> None:
    path = repacked(saved(tmp_path / "a.docx"), {"META-INF/manifest.xml": "<x/>"})
    with pytest.raises(ParseError, match=r"^a\.docx is an OpenDocument file: save it as \.docx$"):
        read_document(path)


@pytest.mark.parametrize("mark", ["<w:strike/>", "<w:dstrike w:val='true'/>", '<w:rStyle w:val="Gone"/>'])
def test_fault_struck_out_words_were_read_as_if_they_stood(tmp_path: Path, mark: str) -> None:
    gone = (
        '<w:style w:type="character" w:styleId="Gone"><w:name w:val="Gone"/>'
        "<w:rPr><w:strike/></w:rPr></w:style>"
    )
    text = paragraph(run("The mill is "), run("not ", mark), run("old", '<w:strike w:val="0"/>'), run("."))
    document = read(tmp_path, text, styles=gone)
    assert texts(document) == ["The mill is old."]
    assert document.notes == ("4 letters that are struck out were left out",)


def data_cell(content: str, properties: str = "") -> str:
    return f"<w:tc><w:tcPr>{properties}</w:tcPr>{paragraph(run(content) if content else '')}</w:tc>"


def test_fault_a_cell_over_several_rows_was_empty_in_all_but_the_first(tmp_path: Path) -> None:
    begin, goes_on, wide = '<w:vMerge w:val="restart"/>', "<w:vMerge/>", '<w:gridSpan w:val="2"/>'
    rows = (
        data_cell("Mill", begin) + data_cell("of oak", wide) + data_cell("1"),
        data_cell("", goes_on) + data_cell("of") + data_cell("ash") + data_cell("2"),
        data_cell("", '<w:vMerge w:val="continue"/>') + data_cell("") + data_cell("") + data_cell("3"),
        data_cell("Weir", begin) + data_cell("", wide) + data_cell("4"),
        data_cell("Lock") + data_cell("of") + data_cell("elm") + data_cell("5"),
    )
    table = f"<w:tbl>{''.join(f'<w:tr>{row}</w:tr>' for row in rows)}</w:tbl>"
    assert texts(read(tmp_path, table)) == [
        "Mill | of oak | 1 Mill | of | ash | 2 Mill | | | 3 Weir | | 4 Lock | of | elm | 5"
    ]


def test_fault_diagrams_of_words_own_were_lost_without_a_word(tmp_path: Path) -> None:
    drawing = (
        '<w:r><w:drawing><wp:inline xmlns:wp="http://schemas.openxmlformats.org/drawingml/2006/wordprocessingDrawing">'
        '<a:graphic xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main"><a:graphicData '
        'uri="http://schemas.openxmlformats.org/drawingml/2006/{kind}"/></a:graphic></wp:inline></w:drawing></w:r>'
    )
    content = [paragraph(drawing.format(kind=kind)) for kind in ("diagram", "chart", "picture")]
    document = read(tmp_path, *content, paragraph(run("Mills stand here.")))
    assert document.notes == ("2 diagrams of Word's own (SmartArt, charts) cannot be read",)
