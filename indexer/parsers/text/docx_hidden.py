"""Hidden text of Word files: by its own format, its styles, the theme, or its position.

Visibility depends on the colour behind the text: highlight, shading of run, paragraph and cell, and the page.
Where that is unknown, as in text boxes without a plain fill, text counts as visible.
"""

import colorsys
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from corpus.contrast import BLACK, WHITE, Colour, blend, is_seen

W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
M = "{http://schemas.openxmlformats.org/officeDocument/2006/math}"
FALLBACK = "{http://schemas.openxmlformats.org/markup-compatibility/2006}Fallback"

_A = "{http://schemas.openxmlformats.org/drawingml/2006/main}"
_WP = "{http://schemas.openxmlformats.org/drawingml/2006/wordprocessingDrawing}"
_WPS = "{http://schemas.microsoft.com/office/word/2010/wordprocessingShape}"
_V = "{urn:schemas-microsoft-com:vml}"
_W14 = "{http://schemas.microsoft.com/office/word/2010/wordml}"

_LARGEST_UNREADABLE = 3.0  # half points
_NARROWEST = 10.0  # percent of a letter's width
_FLATTEST = 40.0  # twentieths of a point; of lines and rows of an exact height
_LEAST_OPACITY = 0.1
_LEAST_SHIFT = 4.0  # half points
_SHIFTS = {"superscript": "raised", "subscript": "lowered"}
_EMU_OF_TWIP, _EMU_OF_POINT = 635, 12_700
_PAGE = (12_240.0, 15_840.0)  # twips; a letter
_TEXTS = (f"{W}t", f"{M}t", f"{W}noBreakHyphen", f"{W}sym")
_SCHEME = {
    "background1": ("bg1", "light1"),
    "text1": ("t1", "dark1"),
    "background2": ("bg2", "light2"),
    "text2": ("t2", "dark2"),
}
_OF_THEME = {
    "light1": "lt1",
    "dark1": "dk1",
    "light2": "lt2",
    "dark2": "dk2",
    "hyperlink": "hlink",
    "followedHyperlink": "folHlink",
}
_MARKERS: Mapping[str, Colour] = {
    "black": (0, 0, 0),
    "blue": (0, 0, 255),
    "cyan": (0, 255, 255),
    "green": (0, 255, 0),
    "magenta": (255, 0, 255),
    "red": (255, 0, 0),
    "yellow": (255, 255, 0),
    "white": WHITE,
    "darkBlue": (0, 0, 128),
    "darkCyan": (0, 128, 128),
    "darkGreen": (0, 128, 0),
    "darkMagenta": (128, 0, 128),
    "darkRed": (128, 0, 0),
    "darkYellow": (128, 128, 0),
    "darkGray": (128, 128, 128),
    "lightGray": (192, 192, 192),
}
_LENGTH = re.compile(r"(-?\d{0,12}\.?\d{1,12})(pt|in|cm|mm|px|pc|pi)?")
_POINTS = {"pt": 1.0, "in": 72.0, "cm": 28.35, "mm": 2.835, "px": 0.75, "pc": 12.0, "pi": 12.0}

_Properties = Mapping[str, Any]
"""Property elements by tag; those of a run or paragraph override those of its styles."""


@dataclass(frozen=True, slots=True)
class _Unknown:
    """A colour that is unknown, or that Word chooses for contrast."""


_UNKNOWN = _Unknown()
_Shade = Colour | _Unknown | None


def remove_hidden(part: Any, look: "Look") -> int:
    """Remove hidden text from a part of a file and return its number of characters."""
    count = 0
    for box in list(part.iter(f"{W}txbxContent")):
        if look.hides_box(box):
            count += _take_out(box)
    for run in list(part.iter(f"{W}r", f"{M}r")):
        if run.getroottree().getroot() is not part.getroottree().getroot():
            continue  # in a box that was taken out
        if look.is_vanished(run):
            # Not counted: the page numbers of tables of contents, which Word hides on web pages.
            is_counted = not look.is_of_contents(run)
            count += _take_out(run) * is_counted
        elif any(child.tag in _TEXTS for child in run) and look.is_unseen(run):
            count += sum(_take_out(child) for child in list(run) if child.tag in _TEXTS)
    return count


def _take_out(element: Any) -> int:
    """Remove an element and return its number of characters, without fallback copies."""
    texts = (
        text.text or ""
        for text in element.iter(f"{W}t", f"{M}t")
        if next(text.iterancestors(FALLBACK), None) is None
    )
    count = sum(not sign.isspace() for text in texts for sign in text)
    element.getparent().remove(element)
    return count


@dataclass(frozen=True, slots=True)
class _Style:
    run: _Properties
    paragraph: _Properties
    element: Any


@dataclass(slots=True)
class Look:
    """The style of text in a Word file, from the roots of its parts."""

    document: Any
    styles: Any
    settings: Any
    theme: Any = None
    _chains: dict[str, tuple[_Style, ...]] = field(default_factory=dict)
    _paragraphs: dict[Any, tuple[_Properties, _Shade, bool]] = field(default_factory=dict)
    _elements: dict[str, Any] = field(default_factory=dict)
    _defaults: dict[str, str] = field(default_factory=dict)
    _base: tuple[_Properties, _Properties] = ({}, {})
    _theme: dict[str, Colour] = field(default_factory=dict)
    _page: tuple[float, float] = _PAGE
    _paper: Colour = WHITE

    def __post_init__(self) -> None:
        for style in self.styles.iter(f"{W}style"):
            name = _value(style, "styleId")
            self._elements.setdefault(name, style)
            if _value(style, "default") in ("1", "true", "on"):
                self._defaults[_value(style, "type")] = name
        defaults = self.styles.find(f"{W}docDefaults")
        if defaults is not None:
            self._base = (
                _children(defaults.find(f"{W}rPrDefault/{W}rPr")),
                _children(defaults.find(f"{W}pPrDefault/{W}pPr")),
            )
        self._theme = _theme_colours(self.theme)
        sizes = list(self.document.iter(f"{W}pgSz"))
        self._page = (
            max([_number(size, "w", _PAGE[0]) for size in sizes] or [_PAGE[0]]),
            max([_number(size, "h", _PAGE[1]) for size in sizes] or [_PAGE[1]]),
        )
        paper = self.document.find(f"{W}background")
        if paper is not None and _is_on(self.settings.find(f"{W}displayBackgroundShape")):
            colour = self._colour(paper, "color", "theme")
            self._paper = colour if isinstance(colour, tuple) else WHITE

    def is_vanished(self, run: Any) -> bool:
        """Return True if a run is hidden as a whole."""
        properties = self._properties(run)
        return any(_is_on(properties.get(f"{W}{mark}")) for mark in ("vanish", "webHidden"))

    def is_struck(self, run: Any) -> bool:
        """Return True if a run is struck out."""
        properties = self._properties(run)
        return any(_is_on(properties.get(f"{W}{mark}")) for mark in ("strike", "dstrike"))

    def is_of_contents(self, run: Any) -> bool:
        """Return True if a run belongs to a table of contents, by its paragraph's style."""
        style = next(run.iterancestors(f"{W}p"), run).find(f"{W}pPr/{W}pStyle")
        element = None if style is None else self._elements.get(_value(style, "val"))
        name = None if element is None else element.find(f"{W}name")
        return name is not None and _value(name, "val").lower().startswith("toc")

    def is_unseen(self, run: Any) -> bool:
        """Return True if letters are too small, without contrast, or off the page."""
        properties = self._properties(run)
        size, scale = properties.get(f"{W}sz"), properties.get(f"{W}w")
        if (
            _number(size, "val", 24.0, per_point=2.0) <= _LARGEST_UNREADABLE
            or _number(scale, "val", 100.0) < _NARROWEST
        ):
            return True
        _, shade, is_away = self._paragraph(run)
        if is_away:
            return True
        colour = self._text_colour(properties)
        run_shade = self._behind(properties)
        behind = shade if run_shade is None else run_shade
        if isinstance(behind, _Unknown) or colour is None:
            return False
        behind = behind or self._paper
        fill, opacity = colour
        return not is_seen(blend(fill, behind, opacity), behind)

    def shift(self, run: Any) -> str:
        """Return "raised" or "lowered" for a superscript, subscript or shifted run, else ""."""
        properties = self._properties(run)
        aligned = properties.get(f"{W}vertAlign")
        if aligned is not None and (shift := _SHIFTS.get(_value(aligned, "val"))):
            return shift
        points = _number(properties.get(f"{W}position"), "val", 0.0, per_point=2.0)
        return "" if abs(points) < _LEAST_SHIFT else "raised" if points > 0 else "lowered"

    def font(self, run: Any) -> str:
        """Return the font of a run, "" where the theme or default applies."""
        fonts = self._properties(run).get(f"{W}rFonts")
        return "" if fonts is None else _value(fonts, "ascii") or _value(fonts, "hAnsi")

    def hides_box(self, box: Any) -> bool:
        """Return True if a text box is hidden, has no size or stands off the page."""
        for shape in box.iterancestors(f"{_WP}anchor", f"{_WP}inline"):
            name, extent = shape.find(f"{_WP}docPr"), shape.find(f"{_WP}extent")
            if name is not None and name.get("hidden") in ("1", "true"):
                return True
            sides = (
                [_float(extent.get(side), _EMU_OF_POINT * 100) for side in ("cx", "cy")]
                if (extent is not None)
                else [_EMU_OF_POINT * 100.0] * 2
            )
            if min(sides) <= _EMU_OF_POINT:
                return True
            for way, side, page in zip("HV", sides, self._page, strict=True):
                place = shape.find(f"{_WP}position{way}")
                offset = None if place is None else place.find(f"{_WP}posOffset")
                if offset is not None and _is_away(
                    _float(offset.text, 0.0),
                    side,
                    page * _EMU_OF_TWIP,
                    is_exact=place.get("relativeFrom") == "page",
                ):
                    return True
        shapes = (shape for shape in box.iterancestors() if str(shape.tag).startswith(_V))
        return any(_is_hidden_vml(shape.get("style", ""), self._page) for shape in shapes)

    def _properties(self, run: Any) -> _Properties:
        of_paragraph, _, _ = self._paragraph(run)
        direct = _children(run.find(f"{W}rPr"))
        style_name = direct.get(f"{W}rStyle")
        properties = dict(of_paragraph)
        for style in self._chain("" if style_name is None else _value(style_name, "val")):
            properties |= style.run
        return {**properties, **direct}

    def _paragraph(self, run: Any) -> tuple[_Properties, _Shade, bool]:
        """Return the properties and shade that a run inherits, and whether its paragraph is off the page."""
        paragraph = next(run.iterancestors(f"{W}p"), run)
        if (cached := self._paragraphs.get(paragraph)) is not None:
            return cached
        of_run, properties = (dict(base) for base in self._base)
        style_name = paragraph.find(f"{W}pPr/{W}pStyle")
        table = next(paragraph.iterancestors(f"{W}tbl", f"{W}txbxContent"), None)
        if table is not None and table.tag == f"{W}tbl":
            for style in self._chain(_style_of_table(table)):
                of_run |= style.run
                properties |= style.paragraph
        name = self._defaults.get("paragraph", "") if style_name is None else _value(style_name, "val")
        for style in self._chain(name):
            of_run |= style.run
            properties |= style.paragraph
        properties |= _children(paragraph.find(f"{W}pPr"))
        shade = self._shade(properties.get(f"{W}shd"))
        if shade is None:
            shade = self._around(paragraph)
        result = of_run, shade, self._is_away(paragraph, properties)
        self._paragraphs[paragraph] = result
        return result

    def _chain(self, name: str) -> tuple[_Style, ...]:
        """Return a style and those that it is based on, base styles first."""
        if name in self._chains:
            return self._chains[name]
        styles: list[_Style] = []
        visited: set[str] = set()
        current = name
        while current in self._elements and current not in visited:
            visited.add(current)
            style = self._elements[current]
            run, paragraph = style.find(f"{W}rPr"), style.find(f"{W}pPr")
            styles.append(_Style(_children(run), _children(paragraph), style))
            base = style.find(f"{W}basedOn")
            current = "" if base is None else _value(base, "val")
        self._chains[name] = tuple(reversed(styles))
        return self._chains[name]

    def _is_away(self, paragraph: Any, properties: _Properties) -> bool:
        """Return True if a paragraph is off the page or its lines or rows have no height."""
        indent, spacing = properties.get(f"{W}ind"), properties.get(f"{W}spacing")
        left = _number(indent, "left", _number(indent, "start", 0.0))
        is_flat = spacing is not None and _value(spacing, "lineRule") == "exact"
        if abs(left) >= self._page[0] or (is_flat and _number(spacing, "line", 240.0) <= _FLATTEST):
            return True
        frame = properties.get(f"{W}framePr")
        if frame is not None and self._is_framed_away(frame, ("x", "y"), ("hAnchor", "vAnchor")):
            return True
        for row in paragraph.iterancestors(f"{W}tr"):
            tall = row.find(f"{W}trPr/{W}trHeight")
            is_exact = tall is not None and _value(tall, "hRule") == "exact"
            if _is_on(row.find(f"{W}trPr/{W}hidden")):
                return True
            if is_exact and _number(tall, "val", 240.0) <= _FLATTEST:
                return True
        places = (table.find(f"{W}tblPr/{W}tblpPr") for table in paragraph.iterancestors(f"{W}tbl"))
        return any(
            self._is_framed_away(place, ("tblpX", "tblpY"), ("horzAnchor", "vertAnchor"))
            for place in places
            if place is not None
        )

    def _is_framed_away(self, frame: Any, places: tuple[str, str], anchors: tuple[str, str]) -> bool:
        sides = (_number(frame, "w", self._page[0]), _number(frame, "h", self._page[1]))
        return any(
            _is_away(_number(frame, place, 0.0), side, page, is_exact=_value(frame, anchor) == "page")
            for place, anchor, side, page in zip(places, anchors, sides, self._page, strict=True)
        )

    def _around(self, paragraph: Any) -> _Shade:
        """Return the fill of the enclosing cell, table or text box, None for the page's."""
        for around in paragraph.iterancestors(f"{W}tc", f"{W}tbl", f"{W}txbxContent"):
            if around.tag == f"{W}txbxContent":
                return self._fill_of_box(around)
            if around.tag == f"{W}tc":
                shade = self._shade(around.find(f"{W}tcPr/{W}shd"))
            else:
                shade = self._fill_of_table(around)
            if shade is not None:
                return shade
        return None

    def _fill_of_table(self, table: Any) -> _Shade:
        fills = [self._shade(table.find(f"{W}tblPr/{W}shd"))]
        # Shades that a table style gives to some rows or columns are not evaluated.
        shades = [
            shade for style in self._chain(_style_of_table(table)) for shade in style.element.iter(f"{W}shd")
        ]
        shades += table.iterfind(f"{W}tr/{W}tblPrEx/{W}shd")
        fills += [_UNKNOWN for shade in shades if self._shade(shade) is not None]
        return next((fill for fill in reversed(fills) if fill is not None), None)

    def _fill_of_box(self, box: Any) -> _Shade:
        for shape in box.iterancestors(f"{_WPS}wsp"):
            for fill in shape.iterfind(f"{_WPS}spPr/{_A}solidFill/*"):
                value = fill.get("val", "")
                colour = _hexadecimal(value) or self._theme.get(self._mapped(_OF_DRAWING.get(value, value)))
                return _UNKNOWN if len(fill) or colour is None else colour
        return _UNKNOWN

    def _behind(self, properties: _Properties) -> _Shade:
        """Return the colour of a run's own highlight or shading."""
        marker = properties.get(f"{W}highlight")
        if marker is not None and _value(marker, "val") != "none":
            return _MARKERS.get(_value(marker, "val"), _UNKNOWN)
        return self._shade(properties.get(f"{W}shd"))

    def _shade(self, shade: Any) -> _Shade:
        """Return the colour of a shading, None where it has none."""
        if shade is None:
            return None
        pattern = _value(shade, "val")
        if pattern == "solid":
            colour = self._colour(shade, "color", "theme")
            return _UNKNOWN if colour is None else colour
        fill = self._colour(shade, "fill", "themeFill")
        if pattern in ("clear", "nil", ""):
            return fill
        if match := re.fullmatch(r"pct(\d\d?)", pattern):
            above = self._colour(shade, "color", "theme") or BLACK
            return blend(above, fill or self._paper, int(match[1]) / 100)
        return _UNKNOWN

    def _text_colour(self, properties: _Properties) -> tuple[Colour, float] | None:
        """Return the colour and opacity of letters, None where Word chooses a visible colour."""
        effect = properties.get(f"{_W14}textFill")
        if effect is not None and (fill := self._effect(effect, properties)) is not None:
            return fill
        colour = properties.get(f"{W}color")
        value = None if colour is None else self._colour(colour, "val", "theme")
        return (value, 1.0) if isinstance(value, tuple) else None

    def _effect(self, effect: Any, properties: _Properties) -> tuple[Colour, float] | None:
        outline = properties.get(f"{_W14}textOutline")
        if outline is not None and outline.find(f"{_W14}noFill") is None and len(outline):
            return None
        if effect.find(f"{_W14}noFill") is not None:
            return WHITE, 0.0
        for fill in effect.iterfind(f"{_W14}solidFill/*"):
            value = fill.get(f"{_W14}val", "")
            colour = _hexadecimal(value) or self._theme.get(self._mapped(_OF_DRAWING.get(value, value)))
            alpha = fill.find(f"{_W14}alpha")
            clear = 0.0 if alpha is None else _float(alpha.get(f"{_W14}val"), 0.0) / 100_000
            changes = {str(change.tag): _float(change.get(f"{_W14}val"), 0.0) / 100_000 for change in fill}
            if colour is not None:
                scale, offset = changes.get(f"{_W14}lumMod", 1.0), changes.get(f"{_W14}lumOff", 0.0)
                return _lightened(colour, scale, offset), 1.0 - clear
        return None

    def _colour(self, element: Any, plain: str, theme: str) -> Colour | None:
        """Return the colour of an attribute, or of the theme with tint or shade."""
        named = _value(element, f"{theme}Color" if theme == "theme" else theme)
        colour = self._theme.get(self._mapped(named))
        if colour is None:
            return _hexadecimal(_value(element, plain))
        tint, shade = _value(element, f"{theme}Tint"), _value(element, f"{theme}Shade")
        if re.fullmatch("[0-9A-Fa-f]{1,2}", tint):
            part = int(tint, 16) / 255
            return _lightened(colour, part, 1 - part)
        if re.fullmatch("[0-9A-Fa-f]{1,2}", shade):
            return _lightened(colour, int(shade, 16) / 255, 0.0)
        return colour

    def _mapped(self, name: str) -> str:
        """Return the theme's name for a colour named by its use."""
        if name in _SCHEME:
            short, usual = _SCHEME[name]
            mapping = self.settings.find(f"{W}clrSchemeMapping")
            name = usual if mapping is None else _value(mapping, short) or usual
        return _OF_THEME.get(name, name)


_OF_DRAWING = {"bg1": "background1", "tx1": "text1", "bg2": "background2", "tx2": "text2"}


def _theme_colours(theme: Any) -> dict[str, Colour]:
    colours = {}
    for colour in () if theme is None else theme.iterfind(f".//{_A}clrScheme/*"):
        for value_element in colour:
            if (
                value := _hexadecimal(value_element.get("lastClr") or value_element.get("val") or "")
            ) is not None:
                colours[str(colour.tag).removeprefix(_A)] = value
    return colours


def _style_of_table(table: Any) -> str:
    style = table.find(f"{W}tblPr/{W}tblStyle")
    return "" if style is None else _value(style, "val")


def _is_away(start: float, side: float, page: float, *, is_exact: bool) -> bool:
    """Return True for a position off the page; if not `is_exact` it may be relative to a place on it."""
    return start >= page or start + side <= (0 if is_exact else -page)


def _is_hidden_vml(style: str, page: tuple[float, float]) -> bool:
    properties = dict(part.lower().split(":", 1) for part in "".join(style.split()).split(";") if ":" in part)
    if properties.get("visibility") == "hidden" or properties.get("display") == "none":
        return True
    sides = (_points(properties.get("width", "")), _points(properties.get("height", "")))
    if any(side is not None and side <= 1 for side in sides):
        return True
    for names, side, extent in zip(
        (("margin-left", "left"), ("margin-top", "top")), sides, page, strict=True
    ):
        places = [place for name in names if (place := _points(properties.get(name, ""))) is not None]
        if places and _is_away(sum(places), side or 0.0, extent / 20, is_exact=False):
            return True
    return False


def _points(length: str) -> float | None:
    match = _LENGTH.fullmatch(length)
    return None if match is None else float(match[1]) * _POINTS[match[2] or "pt"]


def _lightened(colour: Colour, scale: float, offset: float) -> Colour:
    """Return a colour with its HSL lightness scaled and offset."""
    hue, light, saturation = colorsys.rgb_to_hls(*(part / 255 for part in colour))
    red, green, blue = colorsys.hls_to_rgb(hue, min(max(light * scale + offset, 0.0), 1.0), saturation)
    return red * 255, green * 255, blue * 255


def _hexadecimal(value: str) -> Colour | None:
    if not re.fullmatch("#?[0-9A-Fa-f]{6}", value):
        return None
    red, green, blue = bytes.fromhex(value.lstrip("#"))
    return red, green, blue


def _children(properties: Any) -> _Properties:
    return {} if properties is None else {child.tag: child for child in properties}


def _value(element: Any, name: str) -> str:
    return str(element.get(f"{W}{name}", ""))


def _number(element: Any, name: str, default: float, *, per_point: float = 20.0) -> float:
    """Return a number, or a length with a unit, at `per_point` parts of a point."""
    text = "" if element is None else _value(element, name)
    if (match := _LENGTH.fullmatch(text)) and match[2]:
        return float(match[1]) * _POINTS[match[2]] * per_point
    return _float(text.removesuffix("%"), default)


def _float(text: str | None, default: float) -> float:
    return float(text) if text and re.fullmatch(r"\s*-?\d{1,12}(?:\.\d{1,9})?\s*", text) else default


def _is_on(mark: Any) -> bool:
    return mark is not None and mark.get(f"{W}val", "1") not in ("0", "false", "off")
