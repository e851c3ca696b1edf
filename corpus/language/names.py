"""What languages are called, and the codes of languages that are named: Unicode's names, by langcodes."""

from functools import cache

import langcodes
from langcodes.tag_parser import LanguageTagError


@cache
def language_name(code: str) -> str:
    """Return a language's name in English, "de" as "German"; what is no known code stays as it is."""
    try:
        language = langcodes.Language.get(code)
    except LanguageTagError:
        return code
    return language.display_name() if language.is_valid() else code


@cache
def language_code(name: str) -> str:
    """Return the code, ISO 639-1, of a language that is given by one or by its name; "" where it has none.

    "en-US", "eng", "English" and "anglais" are "en".
    """
    given = name.strip().replace("_", "-")
    try:
        tag = langcodes.standardize_tag(given) if langcodes.tag_is_valid(given) else str(langcodes.find(name))
    except (LookupError, LanguageTagError):
        return ""
    code = tag.partition("-")[0]
    return code if len(code) == 2 else ""
