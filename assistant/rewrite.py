"""Questions to search queries in the light of the conversation, without a model."""

import re

from assistant.records import Rewrite, Turn
from assistant.vocabulary import content_words, vocabulary
from corpus.text import words

MAX_CARRIED = 8
_OPENING_MARKS = ('"', "“", "„", "«", "‘")
_FOLLOW_UP = re.compile(
    r"^\W*(?:and|but|so|what about|how about|go on|continue|elaborate|any other)\b",
    re.IGNORECASE,
)
# What is said before a question and is no part of it.
_ASIDE = re.compile(
    r"^\W*(?:(?:ok|okay|well|now|so|great|thanks|thank you|next|(?:now\s+)?something else|another question"
    r"|on another note|different question)\s*[,:;.!]+\s*)+",
    re.IGNORECASE,
)
# "that" points back only here; elsewhere it opens a clause ("methods that prune").
_POINTING_THAT = re.compile(
    r"\b(?:about|of|with|than|like|for|to|on|is|does|do)\s+that\b|\bthat\s+(?:method|approach|model|paper|work|one)\b|\bthat\W*$",
    re.IGNORECASE,
)


def rewrite_from_words(question: str, history: tuple[Turn, ...]) -> Rewrite:
    """Return the question as a plain search statement; a follow-up takes over the subject it points to.

    A follow-up is a question that points back ("its limitations") or names no subject of its own ("why?").
    """
    asked = _ASIDE.sub("", question) or question
    statement = search_statement(asked)
    if history and is_follow_up(asked):
        turn = _subject_turn(history)
        carried = _carried(history[turn].rewrite.search_query, statement)
        if carried:
            own = _own(statement)
            return Rewrite(question, f"{carried}: {own}" if own else carried, (turn,))
    return Rewrite(question, statement)


def search_statement(question: str) -> str:
    """Return the question without the words that only ask: "Which methods prune BERT?" to "prune BERT"."""
    known = vocabulary()
    tokens = question.strip().rstrip("?!. ").split()
    asking = {*known.frame, *known.generic, ""}
    kept = list(tokens)
    # What stands in quotation marks is a name, whatever its first word is.
    while kept and _bare(kept[0]) in asking and not kept[0].startswith(_OPENING_MARKS):
        kept = kept[1:]
    while kept and _bare(kept[-1]) in known.generic:
        kept = kept[:-1]
    return " ".join(kept).strip(" ,;:") or " ".join(tokens)


def is_follow_up(question: str) -> bool:
    """Tell whether a question leans on what was said before it."""
    subject = _subject_words(question)
    if not subject or _FOLLOW_UP.match(question):
        return True
    if _POINTING_THAT.search(question):
        return True
    asked = words(question)
    pointing = vocabulary().pointing
    positions = [index for index, word in enumerate(asked) if word in pointing]
    # "What is BM25 and how does it rank?" points to a subject of its own.
    return any(not set(asked[:position]) & set(subject) for position in positions)


def _subject_words(question: str) -> list[str]:
    known = vocabulary()
    return [word for word in content_words(question) if word not in known.aspects | known.frame]


def _subject_turn(history: tuple[Turn, ...]) -> int:
    """Return the index of the newest turn that was answered, else of the newest."""
    answered = [index for index, turn in enumerate(history) if turn.answer.refusal is None]
    return answered[-1] if answered else len(history) - 1


def _carried(earlier_query: str, statement: str) -> str:
    """Return the subject of an earlier query without what is asked of it or is already said.

    Of a query that took its own subject over, only that goes on: what stood behind it was asked of it.
    """
    left_out = {*words(statement), *vocabulary().function, *vocabulary().aspects}
    subject = earlier_query.partition(": ")[0]
    kept = [token for token in subject.split() if (bare := _bare(token)) and bare not in left_out]
    return " ".join(kept[:MAX_CARRIED])


def _own(statement: str) -> str:
    """Return what a follow-up itself says: nothing of "tell me more", "reasons" of "why?"."""
    known = vocabulary()
    drop = known.pointing | {"that", "what", "about", "how", "why", "and", "but"}
    own = " ".join(token for token in statement.split() if _bare(token) not in drop)
    if any(word not in known.function | known.frame for word in words(own)):
        return own
    return "reasons" if "why" in words(statement) else ""


def _bare(token: str) -> str:
    return re.sub(r"^\W+|\W+$|['’]s$", "", token.lower())
