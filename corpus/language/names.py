"""The names and codes of languages, from langcodes."""

from collections.abc import Collection
from functools import cache

import langcodes
from langcodes.tag_parser import LanguageTagError

from corpus.wording import joined

# langcodes takes quadratic time to look up a name.
LONGEST_NAME = 100


@cache
def language_name(code: str) -> str:
    """Return a language's name in English, "German" for "de"; an unknown code is unchanged."""
    try:
        language = langcodes.Language.get(code)
    except LanguageTagError:
        return code
    return language.display_name() if language.is_valid() else code


def language_names(codes: Collection[str], most: int = 4) -> str:
    """Return the names of languages, English first: "English, French, German and 90 more"."""
    names = sorted(map(language_name, codes), key=lambda name: (name != "English", name))
    more = len(names) - most
    return joined([*names[:most], *([f"{more} more"] if more > 0 else [])])


def language_code(name: str) -> str:
    """Return the ISO 639-1 code of a language given by a code or a name, "" if it has none.

    "en-US", "eng", "English" and "anglais" give "en".
    """
    return _language_code(name) if len(name) <= LONGEST_NAME else ""


@cache
def _language_code(name: str) -> str:
    tag_text = name.strip().replace("_", "-")
    try:
        is_tag = langcodes.tag_is_valid(tag_text)
        tag = langcodes.standardize_tag(tag_text) if is_tag else str(langcodes.find(name))
    except (LookupError, LanguageTagError):
        return ""
    code = tag.partition("-")[0]
    return code if len(code) == 2 else ""
