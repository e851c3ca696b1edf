"""Questions to search queries in the light of the conversation, without a hosted model.

The query is the reader's question with its references replaced and what it leaves out inserted ("What are its
limits?" becomes "What are BM25's limits?"). A learned part (assistant/learned/followups.py) finds words of
earlier turns and their place in the question; words without a place follow in brackets.
"""

import re
from collections.abc import Sequence
from dataclasses import replace

from assistant.learned.followups import Exchange, Filling, FollowUps, Surety, open_follow_ups
from assistant.questions.intent import without_marks
from assistant.questions.names import names_in
from assistant.questions.phrases import is_complete, phrases
from assistant.questions.vocabulary import stems, vocabulary
from assistant.records import LabelledPaper, Rewrite, Turn
from corpus.text import words
from corpus.wording import capitalised, possessive

LONGEST_TITLE = 160
NAMED_AGAIN = 2  # phrases of the question before
WINDOW = 12  # older turns are forgotten
_SEVERAL = frozenset("they them these those".split())
_POSSESSIVES = frozenset("its their theirs his hers".split())
_POINTS_BACK = frozenset("it its itself they them their theirs".split())
_IT = frozenset("it its itself".split())
_ARTICLE = re.compile(r"\b(?:the|an?)\s*$", re.IGNORECASE)
_OWN_ARTICLE = re.compile(r"^(?:the|an?)\s+(?=\S)", re.IGNORECASE)
_CITED = re.compile(r"(?:(?<!\s)\s++)?\[\d{1,3}\??\]")
# Announces a question on something new.
_SHIFT = re.compile(
    r"^\W*(?:(?:ok|okay|well|now|so|great|thanks|thank you|next)\W+)*"
    r"(?:something else|another question|(?:on )?another (?:note|topic)"
    r"|(?:a )?different (?:question|topic))\s*[,:;.!]+\s*",
    re.IGNORECASE,
)
_BACK_TO = re.compile(
    r"^(?:(?:and|but|ok|okay|now|so|well|going|coming|let us go|let's go)\W+)*back to "
    r"(?P<subject>[^:,.!?]{2,80})[:,]\s+(?P<rest>\S+ .*)$",
    re.IGNORECASE,
)
_ASIDE = re.compile(
    r"^(?:(?:oh|ok|okay|so|well|wow|now|great|thanks|thank you|interesting|no|yes|hmm|i see)[,.;:!]*\s+)+",
    re.IGNORECASE,
)
_STATEMENT = re.compile(r"^(?:[^?.!]|[.](?!\s))*+[.!]++\s++(?=\S++ \S)")
_TITLE = re.compile(r"“[^”]{1,1000}”")
# Between phrases that name one thing together.
_JOINS = re.compile(
    r"\s+(?:(?:of|in|for|and|or|on|with|to|from|by|at)\s+)?(?:(?:the|an?)\s+)?", re.IGNORECASE
)
# "And on BEIR?", "How does the better of the two work?": follow-ups without a pronoun.
_GOES_ON = re.compile(
    r"^(?:and|but|or|so)\b|\b(?:of the (?:two|three)|the (?:other|former|latter|same)|both of them)\b"
    r"|\bthen\W*$",
    re.IGNORECASE,
)
_WHAT_ABOUT = re.compile(r"^(?:and )?(?:what|how) about\b", re.IGNORECASE)
_WHY = re.compile(r"^(?:and |but )?(?:why|how come|how so|really|since when)\W*$", re.IGNORECASE)
_THE_FACT = re.compile(r"\b(?:can|could|should|must|will|would|might) (?:this|that)\b", re.IGNORECASE)
LONGEST_REPEATED = 240
_MORE = re.compile(
    r"^(?:please |can you |and |but )*(?:(?:tell me |say |give me |show me )?(?:some )?more(?: details?)?"
    r"|go on|continue|elaborate|explain)(?: please)?\W*$",
    re.IGNORECASE,
)
_MORE_ABOUT_IT = "Tell me more about it"
_ORDINALS = {"first": 0, "second": 1, "third": 2, "fourth": 3, "fifth": 4, "last": -1}
_PAPER_WORDS = r"(?:papers?|study|article|work)"
_LABEL = re.compile(
    r"\[(\d{1,3})\]|\b(?:paper|reference|ref|source|citation)\s*(?:no\.?\s*|#\s*)?(\d{1,3})\b"
    r"|(?<!\w)#(\d{1,3})\b",
    re.IGNORECASE,
)
_ORDINAL = re.compile(
    rf"\bthe\s+({'|'.join(_ORDINALS)})\s+(?:one|{_PAPER_WORDS})\b"
    rf"|(?:(?<=^)|(?<=^and )|(?<=^or )|(?<=^but )|(?<=about ))the\s+({'|'.join(_ORDINALS)})(?=\W*$)",
    re.IGNORECASE,
)
_THE_PAPER = re.compile(rf"\b(?:this|that|the same)\s+{_PAPER_WORDS}\b", re.IGNORECASE)


def rewrite_from_words(
    question: str, history: tuple[Turn, ...], follow_ups: FollowUps | None = None
) -> Rewrite:
    """Return the question as a search query, with the earlier turns that it refers to.

    `follow_ups` finds what a question leaves out: by default the bundled part.
    """
    reader = follow_ups or open_follow_ups()
    typed = " ".join(question.split())
    asked = " ".join(without_marks(typed).split()) or typed
    if back := _BACK_TO.match(asked):
        return Rewrite(question, _back_to(back["subject"], back["rest"], reader))
    shift = _SHIFT.match(asked)
    if shift and shift.end() < len(asked):
        return Rewrite(question, capitalised(asked[shift.end() :]))
    if not history:
        return Rewrite(question, asked)
    query, turns = _resolved(asked, history, reader)
    return Rewrite(question, query, tuple(sorted(set(turns))))


def query_from_part(part: str, question: str, follow_ups: FollowUps | None = None) -> str:
    """Return a part of a question as a search query, with the subject of the other parts if it has none."""
    names_own = any(is_complete(phrase) for phrase in phrases(part))
    if names_own and not vocabulary().pointing & set(words(part)):
        return part
    others = question.replace(part, " ").strip(" ,")
    query, used = _filled(part, [(others, "")], follow_ups or open_follow_ups())
    subjects = [phrase.text for phrase in phrases(others) if is_complete(phrase)]
    return query if used else _in_brackets(part, subjects[:NAMED_AGAIN])


def _back_to(subject: str, rest: str, reader: FollowUps | None) -> str:
    """Return a question with the subject that is named ahead of it: "Back to BM25: is it fast?"."""
    query, turns = _filled(rest, [(f"What is {subject}?", "")], reader)
    named = turns or stems(subject) <= stems(rest)
    return capitalised(query if named else _in_brackets(rest, [subject]))


def _resolved(question: str, history: tuple[Turn, ...], reader: FollowUps | None) -> tuple[str, list[int]]:
    """Return a question with its references resolved, and the indices of the turns that named them."""
    named_papers, turns = _with_titles(question, history)
    if turns:
        return named_papers, turns
    recent = list(enumerate(history))[-WINDOW:]
    told = [entry for entry in recent if entry[1].answer.refusal is None] or recent[-1:]
    last_turn, last = told[-1][0], told[-1][1].rewrite.search_query
    if _WHY.match(question) or _THE_FACT.search(question):
        repeated = last.endswith(question) or len(last) > LONGEST_REPEATED
        return last if repeated else f"{last} {question}", [last_turn]
    if _MORE.match(question):
        question = _MORE_ABOUT_IT
    exchanges = [(turn.rewrite.search_query, _CITED.sub("", turn.answer.text)) for _, turn in told]
    query, used = _filled(question, exchanges, reader)
    if not used and _WHAT_ABOUT.match(question):
        asked = [phrase.text for phrase in phrases(last) if not is_complete(phrase)]
        query = _in_brackets(question, asked[:1])
        used = [len(exchanges) - 1] if query != question else []
    return query, [told[place][0] for place in used]


def _with_titles(question: str, history: tuple[Turn, ...]) -> tuple[str, list[int]]:
    """Put the titles of the last answer's papers where a question says "[2]" or "the second one"."""
    answered = [number for number, turn in enumerate(history) if turn.answer.cited_labels]
    if not answered:
        return question, []
    turn = history[answered[-1]]
    cited = [paper for label in turn.answer.cited_labels if (paper := turn.evidence.paper(label))]

    def title(match: re.Match[str]) -> str:
        paper = _meant_paper(match, turn, cited)
        return f"“{_short_title(paper.paper.title)}”" if paper else match[0]

    query = _LABEL.sub(title, _ORDINAL.sub(title, question))
    if len(cited) == 1:
        query = _THE_PAPER.sub(title, query)
    return query, [answered[-1]] if query != question else []


def _meant_paper(match: re.Match[str], turn: Turn, cited: Sequence[LabelledPaper]) -> LabelledPaper | None:
    numbers = [group for group in match.groups() if group]
    if not numbers:
        return cited[0]
    if numbers[0].isdecimal():
        return turn.evidence.paper(int(numbers[0]))
    place = _ORDINALS[numbers[0].lower()]
    # If the answer cites fewer papers, the place is one among the papers of its evidence.
    papers = cited if place < len(cited) else turn.evidence.papers
    return papers[place] if place < len(papers) else None


def _short_title(title: str) -> str:
    plain = " ".join(title.split()).strip('“”"')
    return plain if len(plain) <= LONGEST_TITLE else f"{plain[:LONGEST_TITLE].rsplit(' ', 1)[0]} ..."


def _filled(question: str, exchanges: Sequence[Exchange], reader: FollowUps | None) -> tuple[str, list[int]]:
    """Return a question with what it leaves out, and the indices of the exchanges that said it."""
    if reader is None:
        return _with_last_subject(question, exchanges)
    if _ORDINAL.search(question):
        return question, []  # It means a paper, of which there is none.
    aside, question = _parted(question)
    names_nothing = not any(is_complete(phrase) for phrase in phrases(question))
    # The earlier questions name the subject more clearly than long answers do.
    kept = _kept(question, exchanges, reader)
    if not kept and names_nothing:
        kept = _kept(question, [(earlier, "") for earlier, _ in exchanges], reader)
    points_back = names_nothing and _POINTS_BACK & set(words(question))
    if not kept and (points_back or _GOES_ON.search(question)):
        question, used = _with_last_subject(question, exchanges)
        return aside + question, used
    placed = [filling for filling in kept if reader.surety.is_placed(filling)]
    loose = [filling for filling in kept if filling not in placed]
    for filling in sorted(placed, key=lambda filling: (-filling.start, -filling.end)):
        question = _put(question, filling)
    loose = [filling for filling in loose if not stems(filling.words) <= stems(question)]
    named = list(dict.fromkeys(filling.words for filling in loose))
    return aside + _in_brackets(question, named), [filling.turn for filling in (*placed, *loose)]


def _kept(question: str, exchanges: Sequence[Exchange], reader: FollowUps) -> list[Filling]:
    """Return the fillings of a question that are names and sure enough.

    If the last question is complete in itself, "it" is what that named: an older subject would be named
    again.
    """
    last = exchanges[-1:]
    asks_of_it = len(exchanges) > 1 and _IT & set(words(question))
    if asks_of_it and names_in(last[0][0]) and not vocabulary().pointing & set(words(last[0][0])):
        kept = _read(question, last, reader)
        placed = [filling for filling in kept if reader.surety.is_placed(filling)]
        if placed and all(filling.words in last[0][0] for filling in placed):
            return [replace(filling, turn=len(exchanges) - 1) for filling in kept]
    return _read(question, exchanges, reader)


def _read(question: str, exchanges: Sequence[Exchange], reader: FollowUps) -> list[Filling]:
    named = [_as_named(filling, exchanges[filling.turn]) for filling in reader.fillings(question, exchanges)]
    return _worth_adding(named, reader.surety, question)


def _parted(question: str) -> tuple[str, str]:
    """Split a remark before the question ("OK.", "That seems extreme.") from it."""
    remark = _STATEMENT.match(question) or _ASIDE.match(question)
    end = remark.end() if remark and remark.end() < len(question) else 0
    return question[:end], question[end:]


def _worth_adding(fillings: Sequence[Filling], bars: Surety, question: str) -> list[Filling]:
    """Select the fillings that are sure and add words, replacements first."""
    kept, known = list[Filling](), stems(question)
    for filling in sorted(fillings, key=lambda filling: (filling.is_put_behind, -filling.surety)):
        is_sure = bars.is_placed(filling) or filling.surety >= bars.bracketed
        if is_sure and (stems(filling.words) - known if filling.is_put_behind else stems(filling.words)):
            kept.append(filling)
            known |= stems(filling.words)
    return kept


def _as_named(filling: Filling, exchange: Exchange) -> Filling:
    """Return a filling extended to a quoted title, or cut to the phrases that it names."""
    asked, words = exchange[0], filling.words
    start = asked.find(words)
    if title := next(
        (phrase[0] for phrase in _TITLE.finditer(asked) if phrase.start() <= start < phrase.end()), ""
    ):
        return replace(filling, words=title)
    inside = [phrase for phrase in phrases(asked) if start <= phrase.start < start + len(words)]
    if start < 0 or not inside:
        return filling
    end = inside[0].end
    for phrase in inside[1:]:
        if not _JOINS.fullmatch(asked[end : phrase.start]):
            break
        end = phrase.end
    return replace(filling, words=asked[start : min(end, start + len(words))])


def _put(question: str, filling: Filling) -> str:
    """Return a question with a filling in place of other words, or after them."""
    before, replaced, after = (
        question[: filling.start],
        question[filling.start : filling.end],
        question[filling.end :],
    )
    name = filling.words
    if _ARTICLE.search(before) or replaced.lower() in _SEVERAL:
        name = _OWN_ARTICLE.sub("", name)
    if name.split(" ", 1)[0].lower() in vocabulary().function:
        name = name[:1].lower() + name[1:]
    if filling.connector == "'s" or replaced.lower() in _POSSESSIVES:
        name = possessive(name)
    if replaced.lower() == "there":
        name = f"in {name}"
    if filling.is_put_behind:
        joint = f" {filling.connector} " if filling.connector not in ("", "'s") else " "
        return f"{before.rstrip()}{joint}{name}{after}"
    return f"{before}{name if before else capitalised(name)}{after}"


def _in_brackets(question: str, loose: Sequence[str]) -> str:
    """Return a question with `loose` words in brackets at its end."""
    if not loose:
        return question
    end = len(question.rstrip("?.! "))
    return f"{question[:end]} ({', '.join(loose)}){question[end:]}"


def _with_last_subject(question: str, exchanges: Sequence[Exchange]) -> tuple[str, list[int]]:
    """Return a question with the last subject asked about in brackets, and the index of its exchange.

    A question that continues without a pointing word gets the first subjects of that exchange.
    """
    points_back = vocabulary().pointing & set(words(question))
    if not (points_back or _GOES_ON.search(question)):
        return question, []
    for place in reversed(range(len(exchanges))):
        if named := [phrase.text for phrase in phrases(exchanges[place][0]) if is_complete(phrase)]:
            return _in_brackets(question, named[-1:] if points_back else named[:NAMED_AGAIN]), [place]
    return question, []
