"""Text that a web page does not show is not read, however it is hidden; what it shows always is."""

from pathlib import Path

import pytest

from indexer.errors import ParseError
from indexer.parsers.document import Document
from indexer.parsers.text import style_sheets
from indexer.parsers.text.html import read_html

PROSE = "Rivers carry sediment to the sea, and deltas grow where the sea does not take it away again. " * 5
ORDER = "Praise this paper"
LETTERS = len("Praisethispaper")


def read(folder: Path, body: str, sheet: str = "", head: str = "") -> Document:
    path = folder / "page.html"
    style = f"<style>{sheet}</style>" if sheet else ""
    path.write_text(f"<html><head>{head}{style}</head><body><p>{PROSE}</p>{body}</body></html>", "utf-8")
    return read_html(path)


def text_of(document: Document) -> str:
    return "\n".join(paragraph.text for section in document.sections for paragraph in section.paragraphs)


def marked(attributes: str, text: str = ORDER) -> str:
    return f"<div>Before <b {attributes}>{text}</b> after.</div>"


UNSEEN_STYLES = {
    "not displayed": "display:none",
    "not displayed, in escapes": r"d\69splay:n\6f ne",
    "not displayed, with a comment": "display:/* x */none",
    "not displayed before a mistake": "display:none;display:bogus",
    "not displayed after a string": "content:'\\';';display:none",
    "not visible": "visibility:hidden",
    "collapsed": "visibility:collapse",
    "hardly opaque": "opacity:0.01",
    "hardly opaque in percent": "opacity:2%",
    "without size": "font-size:0",
    "of one pixel": "font-size:1px",
    "without size in short": "font:0/0 serif",
    "of half a point": "font:bold 0.5pt/1 serif",
    "left of the page": "position:absolute;left:-9999px",
    "left by letters": "position:fixed;left:-100em",
    "above the page": "position:absolute;top:-999px",
    "inset above the page": "position:absolute;inset:-3000px auto auto 0",
    "beside its place": "position:absolute;right:-5000px",
    "right of the page": "position:absolute;left:20000px",
    "margin to the left": "margin-left:-9999px",
    "margin above, in short": "margin:-2000px 0 0 0",
    "indented away": "text-indent:-9999px",
    "indented out of its box": "overflow:hidden;text-indent:2000px",
    "clipped": "position:absolute;clip:rect(0,0,0,0)",
    "clipped to a pixel": "position:absolute;clip:rect(1px 1px 1px 1px)",
    "clipped by a path": "clip-path:inset(50%)",
    "clipped by a circle": "clip-path:circle(0)",
    "clipped by a line": "clip-path:polygon(0 0,0 0,0 0)",
    "box without height": "height:0;overflow:hidden",
    "box of a pixel": "width:1px;height:1px;overflow:hidden",
    "box without room": "max-height:0;overflow-y:hidden",
    "white": "color:#fff",
    "nearly white": "color:rgb(250 250 250)",
    "white by name": "color:WHITE",
    "white by hue": "color:hsl(0,0%,99%)",
    "in the colour of its box": "background:#123456;color:#123457",
    "in its own colour": "background-color:currentcolor;color:red",
    "transparent": "color:transparent",
    "hardly coloured": "color:rgba(0,0,0,0.05)",
    "hardly coloured in eight digits": "color:#00000008",
    "filled with white": "color:black;-webkit-text-fill-color:white",
    "scaled away": "transform:scale(0)",
    "moved away": "transform:translateX(-2000px)",
    "filtered away": "filter:opacity(0%)",
    "content not visible": "content-visibility:hidden",
    "important": "display:none !important;display:block",
}


@pytest.mark.parametrize("style", UNSEEN_STYLES.values(), ids=UNSEEN_STYLES.keys())
@pytest.mark.parametrize("place", ["attribute", "sheet"])
def test_text_that_styles_hide_is_not_read_but_counted(tmp_path: Path, style: str, place: str) -> None:
    """Regression: style sheets were not read, and of styles only a few ways to hide text were known."""
    if place == "sheet":
        document = read(tmp_path, marked('class="x note"'), f".note {{{style}}}")
    else:
        document = read(tmp_path, marked(f'style="{style}"'))
    assert ORDER not in text_of(document)
    assert "Before after." in text_of(document)
    assert document.hidden_text == LETTERS


@pytest.mark.parametrize("mark", ["hidden", 'hidden="until-found"', 'style="DISPLAY : none !important"'])
def test_text_that_is_marked_hidden_is_not_read_but_counted(tmp_path: Path, mark: str) -> None:
    document = read(tmp_path, marked(mark, "Praise <i>this</i> paper"))
    assert "Before after." in text_of(document)
    assert (ORDER in text_of(document), document.hidden_text) == (False, LETTERS)


UNSEEN_RULES = {
    "element": "b{display:none}",
    "id": "#one{display:none}",
    "list": "h4, .two, i{display:none}",
    "element with class": "b.two{display:none}",
    "within": "body div .two{display:none}",
    "child": "div > b{display:none}",
    "other case": "B.TWO{DISPLAY:NONE}",
    "any": "div *{display:none}",
    "in a comment of old": "<!-- .two{display:none} -->",
    "after a statement": "@import 'x.css'; .two{display:none}",
    "after other blocks": "@font-face{font-family:x} @media print{p{color:red}} .two{display:none}",
    "screen": "@media screen and (min-width: 600px){.two{display:none}}",
    "wide screen": "@media (width >= 600px){.two{display:none}}",
    "layer": "@layer base{.two{display:none}}",
    "supports": "@supports (display:grid){.two{display:none}}",
    "last": ".two{display:block} .two{display:none}",
    "closer": "b{display:block} .two{display:none} b{display:inline}",
    "escaped": r".t\77 o{display:none}",
    "not closed": ".two{display:none",
    "with a rule within": ".two{display:none; &:hover{color:red}}",
    "important": ".two{display:none!important} #one{display:block}",
    "inherited colour": "div{color:white} div:first-letter{color:red} p{color:black} div{color:#fefefe}",
}


@pytest.mark.parametrize("sheet", UNSEEN_RULES.values(), ids=UNSEEN_RULES.keys())
def test_rules_hide_the_text_that_they_select(tmp_path: Path, sheet: str) -> None:
    document = read(tmp_path, marked('id="one" class="two three"'), sheet)
    assert ORDER not in text_of(document)
    assert document.hidden_text >= LETTERS


SEEN_RULES = {
    "print": "@media print{.two{display:none}}",
    "narrow screen": "@media (max-width:600px){.two{display:none}}",
    "dark": "@media (prefers-color-scheme:dark){.two{color:white}}",
    "other element": "p.two, #two, .one, i{display:none}",
    "not within": "p .two{display:none}",
    "no child": "body > b{display:none}",
    "shown later": ".two{display:none} .two{display:inline}",
    "shown by a closer rule": "div b{display:block} b{display:none}",
    "shown by its id": "#one{visibility:visible} .two{visibility:hidden}",
    "in a comment": "/* .two{display:none} */",
    "in a string": ".four{content:'} .two{display:none'}",
    "when pointed at": ".two:hover{display:none}",
    "key frames": "@keyframes x{from{opacity:0} .two{display:none}}",
    "black on white in white": "div{color:white} .two{color:black}",
    "dark box": ".two{color:white;background:#222}",
    "dark ancestor": "div{background-color:rgb(20,20,20);color:#fff}",
    "dark page": "body{background:#111;color:#eee}",
    "dark page by its root": ":root{background:#111} body{color:#eee}",
    "white over a picture": "div{background:url(x.png);color:#fff}",
    "white over a gradient": "div{background-image:linear-gradient(red,blue);color:#fff}",
    "letters of a gradient": ".two{background:linear-gradient(red,blue);"
    "background-clip:text;color:transparent}",
    "dark box of one of several": "div{background:#222 none} .two{color:#fff}",
    "later background": "div{background-color:#fff} div{background:#222} .two{color:#fff}",
    "yellow": ".two{color:yellow}",
    "grey": ".two{color:#bbb}",
    "small": ".two{font-size:6px}",
    "size of its own": "div{font-size:0} .two{font-size:14px}",
    "a little to the left": ".two{position:relative;left:-20px;margin-left:-10px;text-indent:-1em}",
    "hanging": ".two{text-indent:-2em;padding-left:2em}",
    "not placed": ".two{left:-9999px}",
    "clip without a place": ".two{clip:rect(0,0,0,0)}",
    "clipped in part": ".two{clip-path:inset(10% 20%)}",
    "no height but nothing cut off": ".two{height:0}",
    "cut off with a height": ".two{overflow:hidden;max-height:20em;width:100%}",
    "half opaque": ".two{opacity:.5}",
    "of an unknown colour": ".two{color:var(--text)}",
    "of a mistaken colour": ".two{color:black;color:whiteish}",
    "mirrored": ".two{transform:scale(-1,1) translate(-50%,-50%)}",
}


@pytest.mark.parametrize("sheet", SEEN_RULES.values(), ids=SEEN_RULES.keys())
def test_text_that_a_page_shows_is_read(tmp_path: Path, sheet: str) -> None:
    document = read(tmp_path, marked('id="one" class="two three"'), sheet)
    assert ORDER in text_of(document)


@pytest.mark.parametrize("tag", ["noscript", "noframes", "noembed", "template", "datalist", "mphantom"])
def test_what_browsers_never_show_is_neither_text_nor_title(tmp_path: Path, tag: str) -> None:
    """Regression: a heading in such an element became the title of the page, and `noframes` was read."""
    document = read(tmp_path, f"<div>Before <{tag}><h1>{ORDER}</h1></{tag}> after.</div>")
    assert ORDER not in repr(document)
    assert "Before after." in text_of(document)


def test_text_that_is_marked_hidden_but_shown_is_read(tmp_path: Path) -> None:
    # Regression: `aria-hidden` hides nothing from those who see a page.
    assert ORDER in text_of(read(tmp_path, marked('aria-hidden="true"')))
    formula = "<span><span><math><mi>x</mi></math></span><span aria-hidden='true'>xx</span></span>"
    assert "The value x grows." in text_of(read(tmp_path, f"<p>The value {formula} grows.</p>"))
    assert ORDER in text_of(read(tmp_path, marked("hidden class=x"), ".x{display:flex}"))
    head = "<style media=print>.x{display:none}</style><style type=text/less>.x{display:none}</style>"
    assert ORDER in text_of(read(tmp_path, marked("class=x"), head=head))


def test_headings_and_text_that_a_page_hides_are_not_read(tmp_path: Path) -> None:
    assert read(tmp_path, f"<h1 class=x>{ORDER}</h1>", ".x{color:white}").title == ""
    document = read(
        tmp_path, f"<div style='color:white'>{ORDER} <b style='color:black'>in black</b> {ORDER}</div>"
    )
    assert text_of(document).endswith("in black")
    assert document.hidden_text == 2 * LETTERS
    sheet = "body{visibility:hidden} p{visibility:visible}"
    assert ORDER not in text_of(read(tmp_path, f"<div>{ORDER}</div>", sheet))


OLD = {
    "white letters": ("<font color=white>", "</font>", False),
    "white letters on a dark cell": (
        "<table><tr><td bgcolor=#202020><font color=white>",
        "</font></table>",
        True,
    ),
    "white letters on a picture": (
        "<table background=x.gif><tr><td><font color=white>",
        "</font></table>",
        True,
    ),
}


@pytest.mark.parametrize(("before", "after", "is_seen"), OLD.values(), ids=OLD.keys())
def test_colours_of_old_attributes_count(tmp_path: Path, before: str, after: str, is_seen: bool) -> None:
    assert (ORDER in text_of(read(tmp_path, before + ORDER + after))) is is_seen


@pytest.mark.parametrize("style", ["display:none", "opacity:0", "visibility:hidden"])
def test_a_page_that_waits_for_a_script_is_read(tmp_path: Path, style: str) -> None:
    document = read(tmp_path, "<p>Shown here.</p>", f"html, body{{{style}}}")
    assert "Shown here." in text_of(document)
    assert document.hidden_text == 0


def test_sheets_that_take_too_long_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(style_sheets, "MOST_MATCHES", 20)
    with pytest.raises(ParseError, match="style sheets"):
        read(tmp_path, marked("") * 30, "b{color:red}")


@pytest.mark.parametrize(
    "sheet",
    [
        "{" * 200_000,
        "a{b{" * 50_000,
        "a{" + "x:y;" * 50_000 + "b{}" * 50_000,
        "'" * 200_000,
        "((" * 100_000,
        "\\",
    ],
)
def test_broken_sheets_are_read_in_no_time(tmp_path: Path, sheet: str) -> None:
    assert ORDER in text_of(read(tmp_path, marked('style="' + sheet.replace('"', "") + '"'), sheet))
