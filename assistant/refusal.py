"""When the corpus cannot answer: before writing, because nothing is near; after it, because nothing holds."""

import unicodedata

from assistant.records import Answer, NearestPassage, Refusal, RefusalReason, Rewrite
from assistant.thresholds import thresholds
from assistant.vocabulary import holds, stems, vocabulary
from corpus.records import Hit, PaperHits
from corpus.text import words

# Short words that other languages are full of and English has not.
_FOREIGN = frozenset(
    """
    der die das und ist sind welche wie für mit nicht ein eine gibt auf von zu im warum wann wird werden kann
    bei le la les des une est sont quelle quelles quels quel que qu'est-ce c'est comment pourquoi pour dans
    avec qui sur el los las cuáles qué cómo para con por una del son gli che come quali sono il di della
    delle perché het een zijn welke hoe voor niet waarom os quais como uma não
    """.split()
)


def cannot_answer(rewrite: Rewrite, papers: tuple[PaperHits, ...]) -> RefusalReason | None:
    """Return why the papers found cannot answer, None when they may (the gate before writing)."""
    if not papers:
        return "empty_corpus"
    limits = thresholds().refusal
    near = max((hit.dense or 0.0 for found in papers for hit in found.hits), default=0.0)
    if near >= limits.relevant:
        return None
    if near >= limits.related and _shared_words(rewrite.search_query, papers) >= limits.shared_words:
        return None
    return "language" if is_foreign(rewrite.question) else "nothing_relevant"


def is_foreign(question: str) -> bool:
    """Tell whether a question is surely not English, by its letters and its short words."""
    letters = [character for character in question if character.isalpha()]
    latin = sum("LATIN" in unicodedata.name(character, "") for character in letters)
    if letters and latin < len(letters) / 2:
        return True
    asked = words(question)
    english = sum(word in vocabulary().function for word in asked)
    return sum(word in _FOREIGN for word in asked) > english


def refuse(reason: RefusalReason, papers: tuple[PaperHits, ...], searched: str, said: str = "") -> Answer:
    """Return a refusal as an answer; `searched` names what was searched, `said` is the model's own reason."""
    count = thresholds().refusal.nearest
    hits = sorted(
        ((hit, found) for found in papers for hit in found.hits), key=lambda pair: _nearness(pair[0])
    )
    nearest = tuple(
        NearestPassage(hit.passage.id, found.paper.id, found.paper.title, hit.passage.text, hit.dense or 0.0)
        for hit, found in hits[:count]
    )
    return Answer("", (), Refusal(reason, _message(reason, searched, said), nearest))


def _nearness(hit: Hit) -> float:
    return -(hit.dense or 0.0)


def _message(reason: RefusalReason, searched: str, said: str) -> str:
    match reason:
        case "empty_corpus":
            return f"There is nothing to search in {searched}. Widen the scope, or index a collection."
        case "language":
            return (
                f"No passage in {searched} answers this as it is asked. The papers and the search are in "
                "English: ask in English."
            )
        case "nothing_relevant":
            return f"No passage in {searched} answers this. Try other words, or look in more papers."
        case "nothing_supported":
            reason_given = f" The writer's reason: {said}" if said else ""
            return (
                f"The passages found in {searched} do not answer this.{reason_given} "
                "Ask more narrowly, or have more papers read."
            )


def _shared_words(query: str, papers: tuple[PaperHits, ...]) -> float:
    """Return the share of the query's content words that the best passage holds, title included."""
    asked = stems(query)
    if not asked:
        return 0.0
    return max(
        _held(asked, stems(f"{found.paper.title} {hit.passage.text}")) / len(asked)
        for found in papers
        for hit in found.hits
    )


def _held(asked: frozenset[str], held: frozenset[str]) -> int:
    return sum(holds(held, word) for word in asked)
