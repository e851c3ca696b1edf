"""Characters of symbol fonts, which Word stores as codes of the font."""

UNREADABLE = "□"
"""Replaces a character of an unknown symbol font."""

_SYMBOL = dict(
    enumerate(
        " !∀#∃%&∋()∗+,−./0123456789:;<=>?≅ΑΒΧΔΕΦΓΗΙϑΚΛΜΝΟΠΘΡΣΤΥςΩΞΨΖ[∴]⊥_‾αβχδεφγηιϕκλμνοπθρστυϖωξψζ{|}∼",
        0x20,
    )
) | dict(
    enumerate(
        "€ϒ′≤⁄∞ƒ♣♦♥♠↔←↑→↓°±″≥×∝∂•÷≠≡≈…|—↵ℵℑℜ℘⊗⊕∅∩∪⊃⊇⊄⊂⊆∈∉∠∇®©™∏√⋅¬∧∨⇔⇐⇑⇒⇓◊⟨®©™∑⎛⎜⎝⎡⎢⎣⎧⎨⎩⎪□⟩∫⌠⎮⌡⎞⎟⎠⎤⎥⎦⎫⎬⎭",
        0xA0,
    )
)
_SYMBOL_FONTS = frozenset(
    (
        "symbol",
        "symbolmt",
        "symbol mt",
        "symbolps",
        "euclid symbol",
        "standard symbols l",
        "standard symbols ps",
    )
)
_WINGDINGS = {
    0x4A: "☺",
    0x4C: "☹",
    0x6C: "●",
    0x6E: "■",
    0x6F: "□",
    0x71: "□",
    0x75: "◆",
    0x77: "◆",
    0x9F: "•",
    0xA7: "▪",
    0xA8: "□",
    0xD8: "➢",
    **dict(enumerate("←→↑↓↖↗↙↘←→↑↓↖↗↙↘⇐⇒⇑⇓⇔", 0xDF)),
    0xFB: "✗",
    0xFC: "✓",
    0xFD: "☒",
    0xFE: "☑",
}
_PRIVATE = range(0xF020, 0xF100)


def symbol(font: str, place: str) -> str:
    """Return the character for a code (hexadecimal) of a font."""
    try:
        code = int(place, 16)
        return in_font(font, chr(code))
    except (ValueError, OverflowError):
        return UNREADABLE


def in_font(font: str, text: str) -> str:
    """Return text as it looks in a font; in symbol fonts letters are other characters."""
    name = font.strip().lower()
    signs = _SYMBOL if name in _SYMBOL_FONTS else _WINGDINGS if name == "wingdings" else None
    if signs is None and text.isascii():
        return text
    return "".join(_sign(ord(character), signs, character) for character in text)


def _sign(code: int, signs: dict[int, str] | None, character: str) -> str:
    if code in _PRIVATE:
        return UNREADABLE if signs is None else signs.get(code - 0xF000, UNREADABLE)
    if signs is None or character.isspace():
        return character
    return signs.get(code, character if code > 0xFF else UNREADABLE)
