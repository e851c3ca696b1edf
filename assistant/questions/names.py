"""Names in a question, as far as capitals and digits tell."""

import re

_NAME = re.compile(r"(?<!\S)[\"“(]*((?:\w[\w.+-]*)?[A-Z0-9](?:[\w.+-]*\w)?)")


def squashed(text: str) -> str:
    """Return letters and digits alone: "MS MARCO", "MS-MARCO" and "MSMARCO" are one name."""
    return "".join(character for character in text.lower() if character.isalnum())


def names_in(question: str) -> list[str]:
    """Return the names in a question: words with a capital or a digit, but for its capitalised first word."""
    found = [(match.start(1), match[1]) for match in _NAME.finditer(question)]
    start = len(question) - len(question.lstrip(' "“('))
    return [name for at, name in found if at > start or sum(not letter.islower() for letter in name) > 1]
