"""Hidden text of web pages: by styles, attributes, or the element it is in.

Where the colour behind text is unknown, as over pictures, text counts as visible. No scripts are run and no
style sheets fetched.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache

from lxml import etree
from PIL import ImageColor

from corpus.contrast import BLACK, WHITE, Colour, blend, is_seen
from indexer.parsers.text.style_sheets import Declarations, StyleSheets, four

_NOT_SHOWN = frozenset("noscript noframes noembed template datalist mphantom rp".split())
_NO_TEXT = ("script", "style", "title")
_LINK: Colour = (0, 0, 238)
_FAR = 999.0  # pixels to the left or above, out of reach of scrolling
_FAR_RIGHT = 9_999.0
_SMALLEST = 1.0  # pixels
_LEAST_OPACITY = 0.1
_SCREEN = 1_280.0
_FONT = 16.0

_LENGTH = re.compile(r"([+-]?\d{0,9}\.?\d{1,9})(px|pt|pc|in|cm|mm|q|em|rem|ex|ch|%|vw|vh|vmin|vmax)?")
_PIXELS = {
    "": 1.0,
    "px": 1.0,
    "pt": 4 / 3,
    "pc": 16.0,
    "in": 96.0,
    "cm": 37.8,
    "mm": 3.78,
    "q": 0.945,
    "rem": _FONT,
    "vw": 12.8,
    "vh": 8.0,
    "vmin": 8.0,
    "vmax": 12.8,
}
_SIZES = {"xx-small": 9, "x-small": 10, "small": 13, "medium": 16, "large": 18, "x-large": 24, "xx-large": 32}
_SYSTEM_COLOURS = {"canvas": WHITE, "window": WHITE, "canvastext": BLACK, "windowtext": BLACK}
_RGB = re.compile(
    r"rgba?\(\s*([\d.]+%?)[\s,]+([\d.]+%?)[\s,]+([\d.]+%?)(?:\s*[,/]\s*([\d.]+%?))?\s*\)", re.ASCII
)
_HSL = re.compile(
    r"hsla?\(\s*(-?[\d.]+)(?:deg)?[\s,]+([\d.]+)%?[\s,]+([\d.]+)%?(?:\s*[,/]\s*([\d.]+%?))?\s*\)", re.ASCII
)
_FUNCTION = re.compile(r"[a-z-]+\(.*", re.DOTALL)
_FILTERED = re.compile(r"opacity\((?:0|0?\.0\d*|\d(?:\.\d*)?%)\)")
_DISPLAY = re.compile(
    r"none|contents|inline|block|flow|flow-root|list-item|run-in|flex|grid|table|ruby|-webkit-box"
    r"|inherit|initial|unset|revert|revert-layer|(?:inline|table|ruby)-[\w-]+|var\(.*"
)
_PICTURE = re.compile(r"url\(|gradient\(|image\(|image-set\(|element\(|var\(|paint\(")

_Paint = tuple[Colour, float] | None
"""A colour and its opacity; None if unknown."""


@dataclass(frozen=True, slots=True)
class _State:
    """The inherited style of an element; `background` is None if unknown."""

    colour: _Paint = (BLACK, 1.0)
    background: Colour | None = WHITE
    size: float = _FONT
    opacity: float = 1.0
    is_visible: bool = True
    indent: float = 0.0

    def shows(self) -> bool:
        """Return True if text with this style is visible."""
        if not self.is_visible or self.size <= _SMALLEST or self.indent <= -_FAR:
            return False
        fill, alpha = self.colour or (None, 1.0)
        opacity = alpha * self.opacity
        if fill is None or self.background is None:
            return opacity >= _LEAST_OPACITY
        return _is_seen(blend(fill, self.background, opacity), self.background)


def remove_hidden(page: etree._Element) -> int:
    """Remove hidden text from a page and return its number of characters; raises ParseError.

    A page that is hidden as a whole counts as visible: a script or external style sheet shows it. Elements
    that browsers never show, such as `template`, are removed uncounted.
    """
    for element in list(page.iter(*_NOT_SHOWN)):
        _take_out(element)
    sheets = StyleSheets.of_page(page, _is_understood)
    # Nothing within is made visible again: a script will show the whole page.
    waits = not page.xpath("boolean(//*[contains(@style, 'visible')] | //style[contains(., 'visible')])")
    hidden, count = [], 0
    states = [_State()]
    walk = etree.iterwalk(page, events=("start", "end"))
    for event, element in walk:
        is_whole = element.tag in ("html", "body")
        if event == "end":
            states.pop()
            sheets.leave(element)
            if not is_whole and not states[-1].shows():
                element.tail, length = _blanked(element.tail)
                count += length
            continue
        declarations = sheets.enter(element)
        state = _state(element, declarations, states[-1])
        if is_whole:
            state = replace(state, opacity=1.0, is_visible=state.is_visible or waits)
        states.append(state)
        if element.tag in _NO_TEXT:
            walk.skip_subtree()
        elif not is_whole and _is_hidden(element, declarations, state.size):
            hidden.append(element)
            walk.skip_subtree()
        elif not state.shows():
            element.text, length = _blanked(element.text)
            count += length
    return count + sum(_take_out(element) for element in hidden)


@lru_cache(1024)
def _is_seen(colour: Colour, background: Colour) -> bool:
    return bool(is_seen(colour, background))


def _blanked(text: str | None) -> tuple[str | None, int]:
    """Return a space in place of a text, and the text's number of characters."""
    count = sum(not sign.isspace() for sign in text or "")
    return (" ", count) if count else (text, 0)


def _take_out(element: etree._Element) -> int:
    texts = element.xpath(".//text()[not(ancestor::script or ancestor::style)]")
    element.tail, behind = None, element.tail or ""
    parent, before = element.getparent(), element.getprevious()
    if before is not None:
        before.tail = (before.tail or "") + behind
    elif parent is not None:
        parent.text = (parent.text or "") + behind
    if parent is not None:
        parent.remove(element)
    return sum(not sign.isspace() for text in texts for sign in str(text)) if isinstance(texts, list) else 0


def _state(element: etree._Element, styles: Declarations, outer: _State) -> _State:
    """Return the style of an element's text."""
    if not styles and not element.attrib and element.tag != "mark":
        return outer
    size = _font_size(styles.get("font-size", ""), outer.size)
    clip = styles.get("background-clip", styles.get("-webkit-background-clip", ""))
    visible = {"visible": True, "initial": True, "hidden": False, "collapse": False}
    return replace(
        outer,
        colour=None if "text" in clip.split() else _colour(element, styles, outer),
        background=_background(element, styles, outer),
        size=size,
        opacity=outer.opacity * _share(styles.get("opacity", ""), 1.0),
        is_visible=visible.get(styles.get("visibility", ""), outer.is_visible),
        indent=_pixels(styles.get("text-indent", ""), size, outer.indent),
    )


def _background(element: etree._Element, styles: Declarations, outer: _State) -> Colour | None:
    """Return the colour behind the text of an element, None if unknown."""
    if _PICTURE.search(styles.get("background-image", "")) or element.get("background"):
        return None
    usual = (element.get("bgcolor") or "").strip() or ("yellow" if element.tag == "mark" else "")
    value = styles.get("background-color", usual)
    if not value:
        return outer.background
    paint: _Paint
    if value == "currentcolor":
        paint = _colour(element, styles, outer)
    else:
        paint = next((colour for part in _words(value) if (colour := _paint(part)) is not None), None)
        if paint is None and "(" not in value:
            paint = WHITE, 0.0
    if paint is None or (outer.background is None and paint[1] < 1):
        return None
    return blend(paint[0], outer.background or WHITE, paint[1])


def _colour(element: etree._Element, styles: Declarations, outer: _State) -> _Paint:
    value = styles.get("-webkit-text-fill-color", styles.get("color", ""))
    if not value and element.tag in ("font", "body"):
        attribute = (element.get("color" if element.tag == "font" else "text") or "").strip().lower()
        return (_paint(attribute) or _paint(f"#{attribute}") or outer.colour) if attribute else outer.colour
    if not value and element.tag == "a" and element.get("href"):
        return _LINK, 1.0
    if not value and element.tag == "mark":
        return BLACK, 1.0
    if value in ("initial", "revert", "revert-layer"):
        return BLACK, 1.0
    if value in ("", "inherit", "unset", "currentcolor"):
        return outer.colour
    return _paint(value)


def _font_size(value: str, outer: float) -> float:
    """Return a font size in pixels, from `font-size` or the short form `font`."""
    for part in value.split():
        size = part.partition("/")[0]
        match = _LENGTH.fullmatch(size)
        # A number without a unit is a weight.
        if match and (match[2] or float(match[1]) == 0):
            return _pixels(size, outer, outer, whole=outer)
        if size in _SIZES:
            return float(_SIZES[size])
    return _FONT if value in ("initial", "revert", "revert-layer") else outer


def _is_hidden(element: etree._Element, styles: Declarations, size: float) -> bool:
    """Return True if an element is hidden with all its content."""
    hidden = element.get("hidden")
    if not styles and hidden is None:
        return False
    is_until_found = (hidden or "").lower() == "until-found"
    display = styles.get("display", "block" if hidden is None else "none")
    if display == "none" or is_until_found or styles.get("content-visibility") == "hidden":
        return True

    def pixels(name: str, default: float = 0.0) -> float:
        return _pixels(styles.get(name, ""), size, default)

    position = styles.get("position", "")
    is_moved = position in ("absolute", "fixed", "relative", "sticky")
    places = [pixels(side) for side in ("left", "top", "right", "bottom")] if is_moved else []
    places += [pixels("margin-left"), pixels("margin-top")]
    is_clipped = position in ("absolute", "fixed") and _is_empty_clip(styles.get("clip", ""), size)
    return (
        min(places) <= -_FAR
        or (is_moved and pixels("left") >= _FAR_RIGHT)
        or is_clipped
        or _is_empty_path(styles.get("clip-path", ""))
        or _is_closed(styles, pixels)
        or _is_moved_away(styles, size)
        or bool(_FILTERED.search("".join(styles.get("filter", "").split())))
    )


def _is_closed(styles: Declarations, pixels: Callable[[str, float], float]) -> bool:
    """Return True if an element clips its content and has no size, or indents its text out of it."""
    if not re.search(
        "hidden|clip|scroll|auto", f"{styles.get('overflow-x', '')} {styles.get('overflow-y', '')}"
    ):
        return False
    sides = ("width", "height", "max-width", "max-height", "inline-size", "block-size")
    return min(pixels(side, _FONT) for side in sides) <= _SMALLEST or pixels("text-indent", 0.0) >= _FAR


def _is_moved_away(styles: Declarations, size: float) -> bool:
    """Return True if transforms scale an element to nothing or move it far off the page."""
    transform, translate, scale = (styles.get(name, "") for name in ("transform", "translate", "scale"))
    for name, inside in re.findall(r"\b([a-z0-9]+)\(([^()]*)\)", transform):
        values = [value.strip() for value in inside.split(",")]
        if name.startswith("scale") and any(map(_is_nothing, values[:2])):
            return True
        if name.startswith("translate") and any(_pixels(value, size, 0.0) <= -_FAR for value in values[:2]):
            return True
    moved = any(_pixels(value, size, 0.0) <= -_FAR for value in translate.split())
    return moved or any(map(_is_nothing, scale.split()[:2]))


def _is_nothing(scale: str) -> bool:
    return _share(scale.lstrip("+-"), 1.0) == 0


def _is_empty_clip(clip: str, size: float) -> bool:
    match = re.fullmatch(r"rect\(([^()]*)\)", clip)
    edges = re.split(r"[\s,]+", match[1].strip()) if match else []
    if len(edges) != 4 or not all(_LENGTH.fullmatch(edge) for edge in edges):
        return False
    top, right, bottom, left = (_pixels(edge, size, 0.0) for edge in edges)
    return right - left <= _SMALLEST or bottom - top <= _SMALLEST


def _is_empty_path(path: str) -> bool:
    match = re.match(r"(inset|circle|ellipse|polygon|xywh)\(([^()]*)\)", path)
    if match is None:
        return False
    inside = match[2].partition(" round ")[0].strip()
    if match[1] == "inset":
        top, right, bottom, left = (
            _share(edge, 0.0) if edge.endswith("%") else 0.0 for edge in four(inside) or ("0",) * 4
        )
        return top + bottom >= 1 or left + right >= 1
    if match[1] in ("circle", "ellipse"):
        radii = inside.partition("at ")[0].split()
        return bool(radii) and any(_pixels(radius, _FONT, _SCREEN) <= _SMALLEST for radius in radii)
    if match[1] == "polygon":
        points = [point.split() for point in inside.split(",") if len(point.split()) == 2]
        return bool(points) and any(len({point[axis] for point in points}) == 1 for axis in (0, 1))
    sides = [_pixels(side, _FONT, _SCREEN) for side in inside.split()]
    return len(sides) == 4 and min(sides[2:]) <= _SMALLEST


def _is_colour(value: str) -> bool:
    words = ("", "inherit", "initial", "unset", "revert", "revert-layer", "currentcolor")
    return value in words or bool(_FUNCTION.fullmatch(value)) or _paint(value) is not None


def _is_length(value: str) -> bool:
    return bool(_LENGTH.fullmatch(value) or _FUNCTION.fullmatch(value) or re.fullmatch("[a-z-]+", value))


_CHECKS: Mapping[str, Callable[[str], object]] = {
    "color": _is_colour,
    "-webkit-text-fill-color": _is_colour,
    "background-color": _is_colour,
    "display": lambda value: bool(value) and all(map(_DISPLAY.fullmatch, value.split())),
    "visibility": re.compile(r"visible|hidden|collapse|inherit|initial|unset|revert|[a-z-]+\(.*\)").fullmatch,
    "opacity": re.compile(r"[+-]?[\d.]+(?:e-?\d+)?%?|inherit|initial|unset|revert|[a-z-]+\(.*\)").fullmatch,
    "position": re.compile(r"static|relative|absolute|fixed|sticky|inherit|initial|unset|revert").fullmatch,
    **dict.fromkeys(("font-size", "text-indent", "left", "top", "right", "bottom"), _is_length),
}


def _is_understood(name: str, value: str) -> bool:
    """Return True if a browser would accept a declaration."""
    return name not in _CHECKS or bool(_CHECKS[name](value))


def _words(value: str) -> list[str]:
    """Return the parts of a value, function calls whole."""
    return re.findall(r"[^\s()]+\([^()]*\)|[^\s()]+", value)


def _paint(value: str) -> _Paint:
    value = value.strip().lower()
    if value == "transparent":
        return BLACK, 0.0
    if value in _SYSTEM_COLOURS:
        return _SYSTEM_COLOURS[value], 1.0
    if match := _RGB.fullmatch(value):
        red, green, blue = (_part(part) for part in match.group(1, 2, 3))
        return (red, green, blue), _share(match[4] or "", 1.0)
    opacity = 1.0
    if match := _HSL.fullmatch(value):
        opacity = _share(match[4] or "", 1.0)
        saturation, light = (min(_number(part), 100) for part in match.group(2, 3))
        value = f"hsl({_number(match[1]) % 360:.3f},{saturation}%,{light}%)"
    elif value not in ImageColor.colormap and not re.fullmatch(
        "#(?:[0-9a-f]{3,4}|[0-9a-f]{6}|[0-9a-f]{8})", value
    ):
        return None
    red, green, blue, *alpha = ImageColor.getrgb(value)
    return (red, green, blue), alpha[0] / 255 if alpha else opacity


def _part(text: str) -> float:
    number = _number(text.removesuffix("%"))
    return min(number * (2.55 if text.endswith("%") else 1), 255.0)


def _share(text: str, default: float) -> float:
    """Return a number or percentage, clamped to 0..1."""
    if not re.fullmatch(r"[+-]?(?:\d{1,9}(?:\.\d{0,9})?|\.\d{1,9})(?:e-\d{1,2})?%?", text):
        return default
    number = float(text.removesuffix("%")) / (100 if text.endswith("%") else 1)
    return min(max(number, 0.0), 1.0)


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return 0.0


def _pixels(text: str, font: float, default: float, *, whole: float = _SCREEN) -> float:
    """Return a length in pixels, else `default`; `whole` is the base of percentages."""
    match = _LENGTH.fullmatch(text)
    if match is None:
        return default
    number, unit = float(match[1]), match[2] or ""
    if unit == "%":
        return number / 100 * whole
    return number * (
        font * (0.5 if unit in ("ex", "ch") else 1) if unit in ("em", "ex", "ch") else _PIXELS[unit]
    )
