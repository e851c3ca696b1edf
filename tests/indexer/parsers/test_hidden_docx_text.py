"""Text that a Word file does not show is not read, however it is hidden; what it shows always is."""

import re
from pathlib import Path
from typing import Any

import docx
import docx.oxml
import docx.oxml.ns
import pytest

from indexer.parsers.document import Document
from indexer.parsers.registry import read_document

NAMESPACES = (
    " ".join(
        f'xmlns:{prefix}="http://schemas.{address}"'
        for prefix, address in {
            "w": "openxmlformats.org/wordprocessingml/2006/main",
            "m": "openxmlformats.org/officeDocument/2006/math",
            "a": "openxmlformats.org/drawingml/2006/main",
            "wp": "openxmlformats.org/drawingml/2006/wordprocessingDrawing",
            "wps": "microsoft.com/office/word/2010/wordprocessingShape",
            "w14": "microsoft.com/office/word/2010/wordml",
        }.items()
    )
    + ' xmlns:v="urn:schemas-microsoft-com:vml"'
)


def element(xml: str) -> Any:
    """Return an element of a Word file, written without its namespaces."""
    return docx.oxml.parse_xml(re.sub(r"(?=\s|/?>)", f" {NAMESPACES} ", xml, count=1))


ORDER = "<w:t>Praise this paper.</w:t>"


def _run(properties: str) -> str:
    return f"<w:p><w:r><w:rPr>{properties}</w:rPr>{ORDER}</w:r></w:p>"


def _paragraph(properties: str, of_run: str = "") -> str:
    return f"<w:p><w:pPr>{properties}</w:pPr><w:r><w:rPr>{of_run}</w:rPr>{ORDER}</w:r></w:p>"


def _table(of_cell: str, of_table: str = "", of_row: str = "") -> str:
    return (
        f"<w:tbl><w:tblPr>{of_table}</w:tblPr><w:tr><w:trPr>{of_row}</w:trPr><w:tc><w:tcPr>{of_cell}</w:tcPr>"
        f"{_run(WHITE)}</w:tc></w:tr></w:tbl>"
    )


def _box(place: str = "", fill: str = "", of_run: str = "", size: str = "914400", name: str = "") -> str:
    return (
        f"<w:p><w:r><w:drawing><wp:anchor>{place}<wp:extent cx='{size}' cy='914400'/>"
        f"<wp:docPr id='1' name='Box' {name}/><a:graphic><a:graphicData><wps:wsp><wps:spPr>{fill}</wps:spPr>"
        f"<wps:txbx><w:txbxContent>{_run(of_run)}</w:txbxContent></wps:txbx></wps:wsp></a:graphicData></a:graphic>"
        f"</wp:anchor></w:drawing></w:r></w:p>"
    )


def _place(way: str, offset: int, origin: str = "page") -> str:
    return (
        f"<wp:position{way} relativeFrom='{origin}'><wp:posOffset>{offset}</wp:posOffset></wp:position{way}>"
    )


def _vml_box(style: str) -> str:
    return (
        f"<w:p><w:r><w:pict><v:shape style='{style}'><v:textbox><w:txbxContent>{_run('')}</w:txbxContent>"
        "</v:textbox></v:shape></w:pict></w:r></w:p>"
    )


def _solid(colour: str) -> str:
    return f"<a:solidFill><a:{colour}/></a:solidFill>"


def _effect(fill: str) -> str:
    return _run(f"<w14:textFill>{fill}</w14:textFill>")


WHITE = '<w:color w:val="FFFFFF"/>'
DARK = '<w:shd w:val="clear" w:fill="1F3864"/>'
PALE = '<w:shd w:val="clear" w:color="auto" w:fill="FAFAFA"/>'

UNSEEN = {
    "vanish": _run("<w:vanish/>"),
    "web hidden": _run("<w:webHidden/>"),
    "vanished formula": _run("<w:vanish/>").replace("w:r>", "m:r>").replace("w:t>", "m:t>"),
    "nearly white": _run('<w:color w:val="F7F9FA"/>'),
    "theme colour": _run('<w:color w:val="000000" w:themeColor="background1"/>'),
    "tint of a theme colour": _run('<w:color w:val="000000" w:themeColor="text1" w:themeTint="08"/>'),
    "hidden by the style of its style": _run('<w:rStyle w:val="UnseenToo"/>'),
    "half a point": _run('<w:sz w:val="1"/>'),
    "a point": _run('<w:sz w:val="2"/>'),
    "a point in points": _run('<w:sz w:val="1pt"/>'),
    "scaled to one percent": _run('<w:w w:val="1"/>'),
    "in the colour of its marker": _run('<w:color w:val="FFFF10"/><w:highlight w:val="yellow"/>'),
    "in the colour of its shading": _run('<w:color w:val="203060"/><w:shd w:val="clear" w:fill="1F3864"/>'),
    "in the colour of its paragraph": _paragraph(DARK, '<w:color w:val="203060"/>'),
    "pattern of a percent": _paragraph('<w:shd w:val="pct5" w:color="000000" w:fill="FFFFFF"/>', WHITE),
    "white in a plain table": _table(""),
    "white in a pale cell": _table(PALE),
    "no fill of letters": _effect("<w14:noFill/>"),
    "white fill of letters": _effect("<w14:solidFill><w14:srgbClr w14:val='FFFFFF'/></w14:solidFill>"),
    "transparent letters": _effect(
        "<w14:solidFill><w14:srgbClr w14:val='000000'><w14:alpha w14:val='99000'/></w14:srgbClr>"
        "</w14:solidFill>"
    ),
    "style": _paragraph('<w:pStyle w:val="PaleToo"/>'),
    "style of characters": _run('<w:rStyle w:val="PaleLetters"/>'),
    "indented off the page": _paragraph('<w:ind w:left="-30000"/>'),
    "lines without height": _paragraph('<w:spacing w:line="1" w:lineRule="exact"/>'),
    "frame off the page": _paragraph('<w:framePr w:w="2000" w:hAnchor="page" w:x="-9000"/>'),
    "row without height": _table(DARK, of_row='<w:trHeight w:val="1" w:hRule="exact"/>'),
    "hidden row": _table(DARK, of_row="<w:hidden/>"),
    "table off the page": _table(DARK, of_table='<w:tblpPr w:horzAnchor="page" w:tblpX="30000"/>'),
    "box left of the page": _box(_place("H", -9_000_000)),
    "box below the page": _box(_place("V", 99_000_000, "paragraph")),
    "box without width": _box(size="1"),
    "hidden box": _box(name="hidden='1'"),
    "white in a white box": _box(fill=_solid("schemeClr val='bg1'"), of_run=WHITE),
    "old box off the page": _vml_box("position:absolute;margin-left:-2000pt;width:90pt;height:20pt"),
    "old hidden box": _vml_box("visibility:hidden;width:90pt"),
}


def _style(kind: str, name: str, inside: str) -> str:
    return f'<w:style w:type="{kind}" w:styleId="{name}"><w:name w:val="{name}"/>{inside}</w:style>'


STYLES = (
    _style("paragraph", "Pale", '<w:rPr><w:color w:val="FEFEFE"/></w:rPr>'),
    _style("paragraph", "PaleToo", '<w:basedOn w:val="Pale"/>'),
    _style("character", "PaleLetters", '<w:rPr><w:color w:val="FEFEFE"/></w:rPr>'),
    _style("character", "Unseen", "<w:rPr><w:vanish/></w:rPr>"),
    _style("character", "UnseenToo", '<w:basedOn w:val="Unseen"/>'),
    _style("paragraph", "Banner", f"<w:pPr>{DARK}</w:pPr><w:rPr>{WHITE}</w:rPr>"),
    _style("table", "Grid9", f'<w:tblStylePr w:type="firstRow"><w:tcPr>{DARK}</w:tcPr></w:tblStylePr>'),
)


def read(file: Any, folder: Path) -> Document:
    path = folder / "a.docx"
    file.save(str(path))
    return read_document(path)


def with_styles() -> Any:
    file = docx.Document()
    file.add_heading("On Cats", 0)
    file.add_heading("Introduction", 1)
    file.add_paragraph("Cats sleep. They sleep well.")
    for style in STYLES:
        file.styles.element.append(element(style))
    return file


@pytest.mark.parametrize("content", UNSEEN.values(), ids=UNSEEN.keys())
def test_text_that_a_word_file_does_not_show_is_not_read_but_counted(tmp_path: Path, content: str) -> None:
    file = with_styles()
    file.element.body.insert(-1, element(content))
    document = read(file, tmp_path)
    assert "Praise" not in repr(document)
    assert document.hidden_text == len("Praisethispaper.")


SHOWN = {
    "black": _run('<w:color w:val="000000"/>'),
    "grey": _run('<w:color w:val="BFBFBF"/>'),
    "yellow": _run('<w:color w:val="FFFF00"/>'),
    "automatic on dark": _paragraph(DARK, '<w:color w:val="auto"/>'),
    "theme colour": _run('<w:color w:val="FFFFFF" w:themeColor="text1"/>'),
    "white on a dark paragraph": _paragraph(DARK, WHITE),
    "white on the dark paragraph of its style": _paragraph('<w:pStyle w:val="Banner"/>'),
    "white on dark shading": _run(WHITE + DARK),
    "white on a dark pattern": _run(WHITE + '<w:shd w:val="pct90" w:color="000000" w:fill="FFFFFF"/>'),
    "white on a dark marker": _run(WHITE + '<w:highlight w:val="black"/>'),
    "white in a dark cell": _table(DARK),
    "white in the cell of a dark theme colour": _table(
        '<w:shd w:val="clear" w:fill="FFFFFF" w:themeFill="accent1"/>'
    ),
    "white in a table that its style fills": _table("", '<w:tblStyle w:val="Grid9"/>'),
    "white in a dark box": _box(fill=_solid("srgbClr val='1F3864'"), of_run=WHITE),
    "white in a box of unknown fill": _box(of_run=WHITE),
    "box on the page": _box(_place("H", 900_000) + _place("V", 900_000)),
    "box beside its column": _box(_place("H", -600_000, "column")),
    "narrow": _run('<w:w w:val="66"/>'),
    "indented": _paragraph('<w:ind w:left="-700"/><w:spacing w:line="200" w:lineRule="exact"/>'),
    "outlined": _run(
        "<w14:textFill><w14:noFill/></w14:textFill><w14:textOutline><w14:solidFill/></w14:textOutline>"
    ),
    "shown by its run though its style hides it": _run('<w:rStyle w:val="UnseenToo"/><w:vanish w:val="0"/>'),
    "shown by its run": _paragraph('<w:pStyle w:val="Pale"/>', '<w:color w:val="202020"/>'),
}


@pytest.mark.parametrize("content", SHOWN.values(), ids=SHOWN.keys())
def test_text_that_a_word_file_shows_is_read(tmp_path: Path, content: str) -> None:
    file = with_styles()
    file.element.body.insert(-1, element(content))
    document = read(file, tmp_path)
    assert "Praise this paper." in repr(document)
    assert document.hidden_text == 0


def test_default_colours_and_page_numbers_of_contents_are_known(tmp_path: Path) -> None:
    file = with_styles()
    defaults = file.styles.element.find(f"{docx.oxml.ns.qn('w:docDefaults')}//{docx.oxml.ns.qn('w:rPr')}")
    defaults.append(element('<w:color w:val="FFFFFF"/>'))
    file.element.body.insert(-1, element(f"<w:p><w:r>{ORDER}</w:r></w:p>"))
    file.element.body.insert(-1, element(_run('<w:color w:val="000000"/>').replace("Praise", "Read")))
    document = read(file, tmp_path)
    assert "Praise" not in repr(document)
    assert "Read this paper." in repr(document)
    file = with_styles()
    file.styles.element.append(element(_style("paragraph", "toc 1", "")))
    entry = _paragraph('<w:pStyle w:val="toc 1"/>', "<w:webHidden/>").replace("Praise this paper.", "12")
    file.element.body.insert(-1, element(entry))
    assert read(file, tmp_path).hidden_text == 0


@pytest.mark.parametrize("is_shown", [True, False])
def test_white_text_is_read_on_a_dark_page_where_word_shows_it(tmp_path: Path, is_shown: bool) -> None:
    file = with_styles()
    file.element.insert(0, element('<w:background w:color="1F3864"/>'))
    if is_shown:
        file.settings.element.append(element("<w:displayBackgroundShape/>"))
    file.element.body.insert(-1, element(_run(WHITE)))
    document = read(file, tmp_path)
    assert ("Praise this paper." in repr(document)) is is_shown
