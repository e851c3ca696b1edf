"""Words that a PDF splits or encodes wrongly: initials, ligatures, and fonts without a mapping."""

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import product
from statistics import median

from corpus.language.stemming import function_words
from corpus.pdf.glyphs import UNKNOWN_LETTER
from corpus.pdf.pages import PdfPage
from corpus.pdf.words import RAISED, Word, raised_figures
from indexer.parsers.hyphens import is_word

_LIGATURES = (("fi", "fl", "ff", "ffi", "ffl"), ("Th", "tt", "ti", "ft", "ct", "st"))
_SIGNS = "()[]{}<>.,;:!?\"'“”„‘’«»-–—*†‡0123456789"
_ENDING = re.compile(r"['’]\w{1,2}$")
_MOST_LIGATURES = 3  # in a word
# A font is a cipher if too many words lack a vowel or have an inner capital, and too few are function words:
# none of 147 fonts of papers exceeds both bounds.
_FEWEST_WORDS, _MOST_ODD, _FEWEST_FUNCTION_WORDS = 60, 0.15, 0.02
_VOWEL = re.compile(r"[aeiouyà-æè-ïò-öø-ýÿāăąēĕėęěĩīĭįıōŏőœũūŭůűų]", re.IGNORECASE)
_INNER_CAPITAL = re.compile(r"[a-zß-ÿ][A-Z]")
_LAST_LATIN = "\u024f"
_LANGUAGES = ("en", "de", "fr", "es", "it", "pt", "nl")
_INITIAL = 1.6  # times the page's type size
_BESIDE = 1.2  # type sizes between an initial and its word at most
# In type sizes: the gap before a superscript, its height, and its relative size.
_TOUCHING, _HIGHEST, _SMALL = 0.15, 0.8, 0.86
_WORDS_OF_ONE_LETTER = frozenset("AIO")


def with_initials_joined(page: PdfPage) -> PdfPage:
    """Join large initials with the words that they begin."""
    initials = [
        place
        for place, word in enumerate(page.words)
        if len(word.text) == 1 and word.text.isupper() and word.upright
    ]
    if not initials:
        return page
    usual = median(word.size for word in page.words)
    words: list[Word | None] = list(page.words)
    for place in initials:
        initial = page.words[place]
        if initial.size < _INITIAL * usual or (first := _word_of(initial, page.words)) is None:
            continue
        rest = page.words[first]
        if _begins(initial.text, rest.text):
            words[first], words[place] = rest._replace(text=initial.text + rest.text, left=initial.left), None
        elif initial.text in _WORDS_OF_ONE_LETTER:
            words[place] = rest._replace(
                text=initial.text, left=initial.left, right=initial.right, hyphenated=False, raised=0
            )
    return replace(page, words=tuple(filter(None, words)))


def _begins(initial: str, rest: str) -> bool:
    """Return True if an initial is the first letter of the next word, unlike a variable."""
    bare, whole = rest.rstrip(",.;:").lower(), (initial + rest).rstrip(",.;:").lower()
    return is_word(whole) or (len(bare) > 2 and bare.isalpha() and not is_word(bare))


def _word_of(initial: Word, words: Sequence[Word]) -> int | None:
    """Return the index of the word next to an initial's top or baseline, None without one."""
    candidates = [
        (word.baseline, word.left, place)
        for place, word in enumerate(words)
        if word.upright
        and word.size < 0.7 * initial.size
        and -0.5 * word.size <= word.left - initial.right <= _BESIDE * word.size
        and initial.bottom - initial.size < word.baseline <= initial.baseline + 0.3 * word.size
        and word.text[0].isalpha()
    ]
    return min(candidates)[2] if candidates else None


def with_exponents_joined(words: Sequence[Word]) -> list[Word]:
    """Join superscripts with the words before them."""
    result: list[Word] = []
    for word in words:
        before = result[-1] if result else None
        is_close = (
            before is not None
            and not before.hyphenated
            and -0.3 * before.size < word.left - before.right < _TOUCHING * before.size
        )
        if before is not None and is_close and (joined := _joined(before, word)) is not None:
            result[-1] = joined
        else:
            result.append(word)
    return result


def _joined(before: Word, word: Word) -> Word | None:
    """Return a word with a superscript appended, None if `word` is none."""
    rise = (before.baseline - word.baseline) / before.size
    end = before.text[len(before.text) - before.raised :]
    raised = raised_figures(end + word.text)
    if word.size >= _SMALL * before.size or not RAISED < rise < _HIGHEST or raised == end + word.text:
        return None
    marked = (
        (before.marked or before.text).removesuffix(raised_figures(end))
        if end
        else before.marked or before.text
    )
    return before._replace(
        text=before.text + word.text,
        right=max(before.right, word.right),
        raised=len(end + word.text),
        marked=marked + raised,
        hyphenated=word.hyphenated,
        ends_line=word.ends_line,
    )


def without_ciphers(pages: Sequence[PdfPage]) -> tuple[list[PdfPage], list[int]]:
    """Remove words in fonts with wrong character codes; return the pages and the numbers of those changed.

    Such a font is drawn correctly, but its text is a cipher: "7KH PLOO" for "The mill".
    """
    by_font: dict[str, list[str]] = defaultdict(list)
    for page in pages:
        for word in page.words:
            by_font[word.font].append(word.text.strip(_SIGNS))
    ciphers = {font for font, words in by_font.items() if _is_cipher(words)}
    if not ciphers:
        return list(pages), []
    cleaned = [
        replace(page, words=tuple(word for word in page.words if word.font not in ciphers)) for page in pages
    ]
    changed = [
        new.number for page, new in zip(pages, cleaned, strict=True) if len(new.words) < len(page.words)
    ]
    return cleaned, changed


def _is_cipher(words: Sequence[str]) -> bool:
    latin = [word for word in words if len(word) > 3 and word.isalpha() and max(word) <= _LAST_LATIN]
    if len(latin) < _FEWEST_WORDS:
        return False
    odd = sum(not _VOWEL.search(word) or _INNER_CAPITAL.search(word) is not None for word in latin)
    if odd <= _MOST_ODD * len(latin):
        return False
    known = frozenset[str]().union(*map(function_words, _LANGUAGES))
    long = [word.lower() for word in words if len(word) > 1]
    return sum(word in known for word in long) < _FEWEST_FUNCTION_WORDS * len(long)


def with_letters_found(pages: Sequence[PdfPage]) -> tuple[list[PdfPage], list[int]]:
    """Restore ligatures by the words they complete; return the pages and the numbers of incomplete ones."""
    broken = [page for page in pages if any(UNKNOWN_LETTER in word.text for word in page.words)]
    if not broken:
        return list(pages), []
    known = {_bare(word.text) for page in pages for word in page.words if UNKNOWN_LETTER not in word.text}
    repaired = [
        replace(page, words=tuple(_repaired(word, known) for word in page.words)) if page in broken else page
        for page in pages
    ]
    missing = [page.number for page in repaired if any(UNKNOWN_LETTER in word.text for word in page.words)]
    return repaired, missing


def _repaired(word: Word, known: set[str]) -> Word:
    count = word.text.count(UNKNOWN_LETTER)
    if not 0 < count <= _MOST_LIGATURES:
        return word
    for ligatures in _LIGATURES:
        texts = [_filled(word.text, letters) for letters in product(ligatures, repeat=count)]
        for test in (known.__contains__, is_word):
            matches = [text for text in texts if test(_bare(text))]
            if len(matches) == 1:
                return word._replace(text=matches[0])
    return word


def _filled(text: str, letters: Iterable[str]) -> str:
    parts = text.split(UNKNOWN_LETTER)
    return parts[0] + "".join(letter + part for letter, part in zip(letters, parts[1:], strict=True))


def _bare(text: str) -> str:
    """Return a word in lower case, without punctuation and a possessive ending."""
    return _ENDING.sub("", text.lower().strip(_SIGNS))
