"""Questions to search queries in the light of the conversation, without a model.

The query is the reader's question in its own words: what points back is replaced by what it points to,
and what a question leaves out is put in ("What are its limits?": "What are BM25's limits?").
"""

import re
from collections.abc import Sequence

from assistant.questions.intent import without_marks
from assistant.questions.phrases import Phrase, Token, phrases, tokens
from assistant.questions.salience import (
    FAR,
    MANY,
    NEAR,
    PERSON,
    Mention,
    is_complete,
    is_subject,
    mentions,
    most_salient,
)
from assistant.questions.vocabulary import stems, vocabulary
from assistant.records import LabelledPaper, Rewrite, Turn
from corpus.wording import possessive

USUAL = 0.6  # how much of a mention's weight is left one turn later, for a word that points back
LATEST = 0.5  # the same for a question that names no subject at all
LONGEST_TITLE = 160
_ONE = frozenset("it its itself it's".split())
_POSSESSIVES = frozenset("its their his theirs it's".split())
_AUXILIARIES = frozenset("do does did can could will would should may might must has have had".split())
_CLAUSE = re.compile(
    r"[,;:.?!]|\b(?:and|but|or|so|that|because|when|if|where|whether|which|who|while|why|how|what|before|after|for)\b",
    re.IGNORECASE,
)
# Said before a question of something new.
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
_ADDS = re.compile(r"^(?:and|but|or|(?:and )?(?:what|how) about)\b", re.IGNORECASE)
_WHAT_ABOUT = re.compile(r"^(?:and )?(?:what|how) about\b", re.IGNORECASE)
_THIS_WORK = re.compile(
    r"\b(?:this|that|these|those)\s+(?:same\s+)?(?:methods?|approach(?:es)?|techniques?|models?|ideas?|systems?)\b",
    re.IGNORECASE,
)
_THIS = re.compile(
    r"(?<=\babout )(?:this|that)\b|\b(?:this|that)(?=\W*$)"
    r"|(?<=\bdoes )(?:this|that)\b|(?<=\bis )(?:this|that)\b(?! (?:a|an|the)\b)",
    re.IGNORECASE,
)
_WHY = re.compile(r"^(?:and |but )?(?:why|how come|how so|really|since when)\W*$", re.IGNORECASE)
_THE_FACT = re.compile(r"\b(?:can|could|should|must|will|would|might) (?:this|that)\b", re.IGNORECASE)
LONGEST_REPEATED = 240
_MORE = re.compile(
    r"^(?:please |can you |and |but )*(?:(?:tell me |say |give me |show me )?(?:some )?more(?: details?)?"
    r"|go on|continue|elaborate|explain)(?: please)?\W*$",
    re.IGNORECASE,
)
_THERE = re.compile(
    r"(?<!is )(?<!are )(?<!was )(?<!were )(?<=\s)there\b(?=\s*(?:[?.!]|$|compared|to\b))", re.IGNORECASE
)
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
_SEVERAL = re.compile(
    r"\b(?:each|both|(?:the )?two|which one|differences?|differ|compare|common)\b", re.IGNORECASE
)
_DETERMINERS = frozenset("some any other what which another few".split())
_AT_PLACE = frozenset("in on for at".split())


def rewrite_from_words(question: str, history: tuple[Turn, ...]) -> Rewrite:
    """Return the question as it is to be searched, and which earlier turns say what it points to."""
    typed = " ".join(question.split())
    asked = " ".join(without_marks(typed).split()) or typed
    if back := _BACK_TO.match(asked):
        return Rewrite(question, _back_to(back["subject"], back["rest"]))
    shift = _SHIFT.match(asked)
    if shift and shift.end() < len(asked):
        return Rewrite(question, _capitalised(asked[shift.end() :]))
    if not history:
        return Rewrite(question, asked)
    query, turns = _resolved(asked, history)
    return Rewrite(question, query, tuple(sorted(set(turns))))


def _back_to(subject: str, rest: str) -> str:
    """Return a question with the subject that is named ahead of it: "Back to BM25: is it fast?"."""
    named = [Mention(phrase, 0, 1.0) for phrase in phrases(subject) if is_subject(phrase)]
    for resolve in (_with_pronouns, _with_this, _with_subject):
        query, turns = resolve(rest, named, ())
        if turns:
            return _capitalised(query)
    return _capitalised(rest if named and stems(subject) <= stems(rest) else f"{rest} ({subject})")


def _resolved(question: str, history: tuple[Turn, ...]) -> tuple[str, list[int]]:
    """Return a question with what it points to, and the turns that named it."""
    named_papers, turns = _with_titles(question, history)
    if turns:
        return named_papers, turns
    before, own = _parted(question)
    named = mentions(history)
    for resolve in _WAYS:
        query, turns = resolve(own, named, history)
        if turns:
            return before + query, turns
    return question, []


def _parted(question: str) -> tuple[str, str]:
    """Split what is said before a question ("OK.", "That seems extreme.") off it."""
    said = _STATEMENT.match(question) or _ASIDE.match(question)
    end = said.end() if said and said.end() < len(question) else 0
    return question[:end], question[end:]


def _with_titles(question: str, history: tuple[Turn, ...]) -> tuple[str, list[int]]:
    """Put the titles of the last answer's papers where a question says "[2]" or "the second one"."""
    answered = [number for number, turn in enumerate(history) if turn.answer.cited_labels]
    if not answered:
        return question, []
    turn = history[answered[-1]]
    cited = [paper for label in turn.answer.cited_labels if (paper := turn.evidence.paper(label))]

    def title(found: re.Match[str]) -> str:
        paper = _meant_paper(found, turn, cited)
        return f"“{_short_title(paper.paper.title)}”" if paper else found[0]

    query = _LABEL.sub(title, _ORDINAL.sub(title, question))
    if len(cited) == 1:
        query = _THE_PAPER.sub(title, query)
    return query, [answered[-1]] if query != question else []


def _meant_paper(found: re.Match[str], turn: Turn, cited: Sequence[LabelledPaper]) -> LabelledPaper | None:
    numbers = [group for group in found.groups() if group]
    if not numbers:
        return cited[0]
    if numbers[0].isdecimal():
        return turn.evidence.paper(int(numbers[0]))
    at = _ORDINALS[numbers[0].lower()]
    # Where the answer cites too few, what stands at that place of the papers that it was written from.
    papers = cited if at < len(cited) else turn.evidence.papers
    return papers[at] if at < len(papers) else None


def _short_title(title: str) -> str:
    plain = " ".join(title.split()).strip('“”"')
    return plain if len(plain) <= LONGEST_TITLE else f"{plain[:LONGEST_TITLE].rsplit(' ', 1)[0]} ..."


def _continued(question: str, named: Sequence[Mention], history: tuple[Turn, ...]) -> tuple[str, list[int]]:
    """Put what was asked before for a question that is nothing without it ("Why?", "Go on")."""
    last = history[-1].rewrite.search_query
    if _WHY.match(question) or _THE_FACT.search(question):
        repeated = last.endswith(question) or len(last) > LONGEST_REPEATED
        return last if repeated else f"{last} {question}", [len(history) - 1]
    meant = most_salient(named, LATEST) if _MORE.match(question) else None
    return (f"Tell me more about {meant.phrase.in_full}", [meant.turn]) if meant else (question, [])


def _with_pronouns(
    question: str, named: Sequence[Mention], _history: tuple[Turn, ...]
) -> tuple[str, list[int]]:
    """Put what they point to for the pronouns that point out of the question."""
    spoken = tokens(question)
    own = [phrase for phrase in phrases(question) if is_complete(phrase)]
    avoid: frozenset[str] = frozenset()
    meant: dict[str, Mention] = {}
    changes: list[tuple[Token, str]] = []
    for at, token in enumerate(spoken):
        kind = _kind(token.word)
        if not kind or _points_within(token, spoken[at + 1 : at + 2], question, own):
            continue
        owns = _owns(token.word, spoken[at + 1 : at + 2])
        if kind in meant and owns:
            continue  # "How did BM25 get its name?"
        earlier = frozenset().union(*(phrase.stems for phrase in own if phrase.end <= token.start))
        found = meant.get(kind) or most_salient(named, USUAL, token.word, avoid | earlier)
        if found is None:
            continue
        meant[kind] = found
        avoid |= found.phrase.stems
        name = found.phrase.in_full
        changes.append((token, possessive(name) if owns else name))
    for token, name in reversed(changes):
        shown = name if token.start else _capitalised(name)
        question = question[: token.start] + shown + question[token.end :]
    return question, [mention.turn for mention in meant.values()]


def _kind(word: str) -> str:
    """Return what a pronoun may stand for, "" for other words."""
    kinds = {"person": PERSON, "many": MANY, "one": _ONE}
    return next((kind for kind, pronouns in kinds.items() if word in pronouns), "")


def _owns(word: str, following: Sequence[Token]) -> bool:
    after = following[0].word if following else ""
    return word in _POSSESSIVES or (word == "her" and after not in vocabulary().function)


def _points_within(token: Token, following: Sequence[Token], question: str, own: Sequence[Phrase]) -> bool:
    """Return True if a pronoun means what its own question names ("What is BM25 and how does it rank?")."""
    after = following[0].word if following else ""
    if token.word in ("these", "those") and after and after not in vocabulary().function:
        return True
    before = [phrase for phrase in own if phrase.end <= token.start]
    if _owns(token.word, following):
        return any(phrase.is_name or phrase.before in _AUXILIARIES for phrase in before)
    return any(_CLAUSE.search(question[phrase.end : token.start]) for phrase in before)


def _with_this(question: str, named: Sequence[Mention], _history: tuple[Turn, ...]) -> tuple[str, list[int]]:
    """Put what they point to for "this" alone and "these methods"."""
    work = _THIS_WORK.search(question)
    if work and any(is_complete(phrase) for phrase in phrases(question[: work.start()])):
        return question, []
    found, meant = work or _THIS.search(question), most_salient(named, USUAL)
    if not found or not meant:
        return question, []
    name = meant.phrase.in_full if found.start() else _capitalised(meant.phrase.in_full)
    return question[: found.start()] + name + question[found.end() :], [meant.turn]


def _with_there(question: str, named: Sequence[Mention], _history: tuple[Turn, ...]) -> tuple[str, list[int]]:
    """Put the place for "there"."""
    found = _THERE.search(question)
    meant = most_salient(named, USUAL, "there") if found else None
    if not found or not meant:
        return question, []
    return f"{question[: found.start()]}in {meant.phrase.in_full}{question[found.end() :]}", [meant.turn]


def _with_new_subject(
    question: str, named: Sequence[Mention], history: tuple[Turn, ...]
) -> tuple[str, list[int]]:
    """Ask the question before of a new subject: after "Is BM25 a sparse method?", "What about SPLADE?"."""
    found = phrases(question)
    last = [mention for mention in named if mention.turn == len(history) - 1]
    if not (_WHAT_ABOUT.match(question) and len(found) == 1 and found[0].before == "about" and last):
        return question, []
    old = max(last, key=lambda mention: mention.weight).phrase
    alike = is_complete(found[0]) and is_complete(old) and found[0].is_plural == old.is_plural
    if old.judged or found[0].judged or not (alike or (found[0].is_name and old.is_name)):
        return question, []
    query = history[-1].rewrite.search_query
    place = re.search(rf"(?:\b(?:the|an?)\s+)?(?<!\w){re.escape(old.text)}(?!\w)", query, re.IGNORECASE)
    if not place:
        return question, []
    return query[: place.start()] + found[0].in_full + query[place.end() :], [len(history) - 1]


def _with_subject(
    question: str, named: Sequence[Mention], _history: tuple[Turn, ...]
) -> tuple[str, list[int]]:
    """Put in the subject that a question leaves out ("What are the main types?")."""
    if _ORDINAL.search(question):
        return question, []  # It means a paper, of which there is none.
    found = phrases(question)
    complete = [phrase for phrase in found if is_complete(phrase) or _is_introduced(phrase)]
    adds = bool(complete) and _ADDS.match(question) is not None and not any(p.is_name for p in complete)
    if not adds and not all(map(_leans, complete)):
        return question, []
    several = "they" if _SEVERAL.search(question) else ""
    subject = most_salient(named, NEAR if complete else LATEST, several)
    # A question with a noun of its own may be about anything: only a subject that is both the latest and the
    # lasting one is taken, so that after a change of topic nothing wrong is added.
    lasting = most_salient(named, FAR, several) if complete else subject
    if not subject or not lasting or subject.phrase.text != lasting.phrase.text:
        return question, []
    if subject.phrase.stems <= frozenset().union(*(phrase.stems for phrase in found)):
        return question, []
    if adds:
        end = len(question.rstrip("?.! "))
        return f"{question[:end]} in {subject.phrase.in_full}{question[end:]}", [subject.turn]
    return _placed(question, found, subject.phrase), [subject.turn]


def _with_full_name(
    question: str, named: Sequence[Mention], _history: tuple[Turn, ...]
) -> tuple[str, list[int]]:
    """Put a name in full for its part: "the College" after "the US Electoral College"."""
    meant = most_salient(named, LATEST)
    stems = meant.phrase.stems if meant else frozenset()
    found = phrases(question)
    parts = [
        phrase for phrase in found if phrase.article == "the" and phrase.stems < stems and is_complete(phrase)
    ]
    if not meant or not parts or not all(phrase in parts or not is_complete(phrase) for phrase in found):
        return question, []
    return question[: parts[0].start] + meant.phrase.text + question[parts[0].end :], [meant.turn]


def _is_introduced(phrase: Phrase) -> bool:
    """Return True if a phrase is what a question is all about: "Tell me about nugget evaluation"."""
    return is_subject(phrase) and phrase.before == "about" and not phrase.article and not phrase.judged


def _leans(phrase: Phrase) -> bool:
    """Return True if a phrase names one of several things, or one that was named before ("the leader")."""
    one_of_several = phrase.article == "the" or phrase.judged or phrase.before in _DETERMINERS
    return one_of_several and not phrase.is_name


def _placed(question: str, found: Sequence[Phrase], subject: Phrase) -> str:
    """Return a question with a subject where it reads best: after the phrase that lacks one, else last."""
    one = re.search(r"(?<!which )(?<!each )(?<!any )(?<!no )\bones?\b", question, re.IGNORECASE)
    if one:
        return question[: one.start()] + subject.text + question[one.end() :]
    at = _place(question, found)
    return f"{question[:at].rstrip()} of {subject.in_full}{question[at:]}"


def _place(question: str, found: Sequence[Phrase]) -> int:
    """Return where "of" and a subject go: after the first phrase, or before the "in" that opens it."""
    if not found:
        return len(question.rstrip("?.! "))
    last = 0
    while last + 1 < len(found) and found[last + 1].before in ("and", "or"):
        last += 1
    if last == 0 and found[0].before in _AT_PLACE:
        return question.lower().rfind(f" {found[0].before} ", 0, found[0].start)
    return found[last].end


def _capitalised(text: str) -> str:
    return text[:1].upper() + text[1:]


_WAYS = (
    _continued,
    _with_pronouns,
    _with_this,
    _with_there,
    _with_new_subject,
    _with_full_name,
    _with_subject,
)
