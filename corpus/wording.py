"""The wording of counts and authors' names on every screen, in exports and commands."""

from collections.abc import Iterable, Sequence

from corpus.records import Author

AUTHORS_NAMED = 12
_PAGES_NAMED = 8


def counted(count: int, noun: str) -> str:
    """Return "1 paper", "1,097 papers"."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def joined(parts: Iterable[str], word: str = "and") -> str:
    """Return "a", "a and b" or "a, b and c", with `word` before the last."""
    *before, last = [*parts] or [""]
    return f"{', '.join(before)} {word} {last}" if before else last


def capitalised(text: str) -> str:
    """Return a text with its first letter in upper case and the rest as it is."""
    return text[:1].upper() + text[1:]


def hidden_text(characters: int, pages: Sequence[int]) -> str:
    """Return "1,204 characters, pages 2 and 5"; of many pages, only the first are named."""
    named = [f"{page:,}" for page in pages[:_PAGES_NAMED]]
    rest = [f"{len(pages) - len(named):,} more"] if len(pages) > len(named) else []
    where = f", {'page' if len(pages) == 1 else 'pages'} {joined([*named, *rest])}" if pages else ""
    return f"{counted(characters, 'character')}{where}"


def all_authors(authors: Sequence[Author], most: int = AUTHORS_NAMED) -> str:
    """Return the names of a paper's authors; of more than `most`, the first and how many more there are."""
    names = [author.name for author in authors]
    more = f" and {len(names) - most:,} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more


def short_authors(authors: Sequence[Author]) -> str:
    """Return the authors as in a citation: "Lin", "Lin and Ruan", "Lin et al."."""
    names = [author.family or author.given for author in authors]
    return f"{names[0]} et al." if len(names) > 2 else " and ".join(names)


def possessive(name: str) -> str:
    """Return "Lin's", "Jones'"."""
    return f"{name}'" if name.endswith("s") else f"{name}'s"
