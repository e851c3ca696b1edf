"""Sentences of papers brought to the form in which they can stand in a grid, or beside those of others."""

import re
from collections.abc import Sequence

from assistant.citations import without_labels
from assistant.generators.quoting import (
    in_third_person,
    is_quotable,
    points_back,
    without_lead,
)
from assistant.vocabulary import stem, vocabulary
from corpus.records import Author
from corpus.text import words

# "(Smith, 1999; Doe et al.)", "[3, 4]", "(see Table 2)": what is cited is another paper's, or out of reach.
_BRACKETS = re.compile(
    r"\s*\([^()]{0,200}(?:\b(?:18|19|20)\d\d[a-z]?\b|\bet al\b)[^()]{0,80}\)"
    r"|\s*\[\s*\d{1,3}(?:\s*[,;–-]\s*\d{1,3})*\s*\]"
    r"|\s*\[[A-Z][^\[\]]{0,80}\b(?:18|19|20)\d\d[a-z]?\s*\]"
    r"|\s*\(\s*(?:see|cf\.?|as in|shown in)?\s*(?:also\s+)?"
    r"(?:Sections?|Sect?s?\.|Figures?|Figs?\.|Tables?|Tab\.|Appendix|§|Eqs?\.|Equations?)[^()]{0,60}\)",
)
_LEAD = re.compile(
    r"^(?:but|yet|and|so|overall|however|in our (?:present |current )?(?:paper|work|study)|"
    r"in (?:summary|short|conclusion|general)|to (?:conclude|summari[sz]e|sum up)|"
    r"as such|in (?:the|our) (?:current|present) (?:paper|work|study)|"
    r"in this (?:research|report|note|thesis)|"
    r"as (?:mentioned|noted|shown|described|discussed) (?:above|before|earlier)|unfortunately|of course|"
    r"in fact|indeed|again|now|then|next|here|secondly|firstly|thirdly|on average|generally|in general|"
    r"to be (?:more )?(?:specific|precise)|more (?:specifically|precisely|importantly|concretely)|"
    r"at the same time|by contrast|to do so|at present|for this purpose|accordingly|similarly|"
    r"surprisingly|conversely|on the one hand|to that end),?\s+(?=\S)",
    re.IGNORECASE,
)
# What a reader of one sentence cannot follow.
_ELSEWHERE = re.compile(
    r"\b(?:above|below|aforementioned|the following|as follows|(?:last|this|next|previous|following) "
    r"(?:section|chapter|subsection|paragraph|table|figure)|the former|the latter|respectively|"
    r"this (?:example|sentence|case|rule|step|figure|equation|formula)|these (?:examples|cases|rules)|"
    r"(?:columns?|rows?|lines?|examples?|steps?) \(?\d+|in the example|let (?:us|me)|arg ?max\w?)\b"
    r"|[=+<>∑∏∈∗|{}\\]|\bthis (?:due|by|with|in|as|we)\b"
    r"|\b(?:as|just) (?:mentioned|noted|described|discussed|explained|said)\b|\b(?:Table|Figure|Fig)\b",
    re.IGNORECASE,
)
# "The same corpus", "In this way", "Further analysis": the sentence before says which.
_LEANING = re.compile(
    r"(?:the|a) (?:same|other|others|second|third|latter|former|remaining|next|last|resulting|subsequent)\b"
    r"|(?:most|some|many|all|none|few|each|one) of (?:these|them|those|which)\b"
    r"|(?:in|by|with|from|under|through|using|given|because of|based on|as|after|like|unlike|for) "
    r"(?:this|that|these|those|such|it|them|its)\b"
    r"(?! (?:paper|work|study|article|research|report|note|thesis))"
    r"|(?:further|subsequent|additional|other|others|another|more|both|neither|first|second|third|rather|"
    r"as a|following|only|too|too,|again|later|here|there|hence|compared to|doing so|one of them)\b"
    r"|(?:in|at|during) the (?:first|second|third|last|final|next) (?:[\w-]+ )?"
    r"(?:stage|step|phase|part|pass)\b"
    r"|(?:discussion|conclusion|note|remark|summary|abstract|introduction|results|motivation)s?:",
    re.IGNORECASE,
)
# "To address these issues, we", "Based on this analysis, we": what it was for was said before.
_PURPOSE = re.compile(
    r"^(?:(?:in order )?to \w+(?: \w+)? (?:this|these|those|it|them|such|the (?:above|aforementioned))\b"
    r"[^,]{0,60},\s+"
    r"|following (?:this|these|that) [^,]{0,40},\s+(?=we\b)"
    r"|(?:in order )?to [^,]{0,80}\b(?:this|these|those|such)\b[^,]{0,60},\s+(?=we\b)"
    r"|(?:based on|motivated by|inspired by|building on|given|driven by) (?:the |this |these |such )?"
    r"(?:above |our )?(?:analys[ie]s|observations?|findings?|insights?|facts?|results?),\s+)",
    re.IGNORECASE,
)
# "Similar to that, it", "is based on it", "four of them".
_POINTING = re.compile(
    r"^(?![^,]*(?:['’]s|s['’]) )[^,]{0,100},\s+(?:it|they|this|these|he|she)\b"
    r"|\b(?:based|built|builds?|rel(?:y|ies|ying)|depend(?:s|ing)?|on top) (?:up)?o[nf] "
    r"(?:it|them|this|these|that)\b"
    r"|\b(?:one|two|three|four|five|six|all|some|none|each|most|any|many|both) of (?:them|these|those)\b"
    r"|\bboth(?=[.,;])",
    re.IGNORECASE,
)
# "these different sets of labels", "this simple approach": fine only where the sentence has said which.
_DEMONSTRATIVE = re.compile(
    r"\b(?:these|those(?! (?:of|who|that|which|in|with|from|on|for|to|by|based|used|obtained)\b)"
    r"|such(?! (?:as|that)\b)"
    r"|this(?! (?:paper|work|study|article|report|thesis|note|research|is|was|can|may|could|will|would)\b))"
    r"\s+((?:[\w-]+\s+){0,3}[\w-]+)",
    re.IGNORECASE,
)
_IN_THIS = re.compile(r"(?<=\w),? in this (?:paper|work|study|article)\b,?(?=[ .])", re.IGNORECASE)
_OWN = re.compile(
    r"\b(?:we|our|ours|us)\b|\bI(?=\s+[a-z])|\b[Mm]y\b"
    r"|\b(?:this|the present|the current) (?:paper|work|study|article|report|thesis|research|note)\b"
    r"|\b(?:the|this) (?:proposed|presented) \w+"
    r"|\b(?:is|are) (?:\w+ )?(?:proposed|presented|introduced|described|investigated)\b(?! (?:by|in [A-Z(]))",
    re.IGNORECASE,
)
# "NER systems typically use", "Recent approaches", "In recent years": the state of things before.
_BEFORE = re.compile(
    r"\b(?:typically|usually|commonly|traditionally|conventionally|nowadays|in practice|in recent years)\b"
    r"|^(?:most|many|some|several|existing|previous|prior|recent|current|traditional|conventional)\b",
    re.IGNORECASE,
)
_CITES = re.compile(r"\bet al\b|\betc\. (?:used|proposed)|\(\s*(?:19|20)\d\d[a-z]?\s*\)")
_THIS_PAPER = re.compile(
    r"\b(?:this|the (?:present|current)) (paper|work|study|article|report|note|thesis|research)\b",
    re.IGNORECASE,
)
_VERBS = (
    r"present|propose|describe|introduce|investigate|explore|examine|addresse|discusse|report|show|demonstrate|"
    r"analyze|analyse|consider|argue|develop|compare|provide|evaluate|outline|tackle|extend|offer|detail|focuse|"
    r"aim|suggest|contribute|follow|trace|review|survey|summari[sz]e|collect|explain|bring|make|give|seek|employ|use|test|conclude|achieve|stud(?=ies)|appl(?=ies)"
)
_PAPER_DOES = re.compile(
    r"^(?:this|the|our) (?:(?:present|current) )?(?:paper|article|work|study|report|note) "
    rf"(?P<adverb>(?:also|further|therefore|first|briefly) )?(?P<verb>{_VERBS})(?:s|ies)\b",
    re.IGNORECASE,
)
_AND_DOES = re.compile(rf"\b(and (?:also )?)({_VERBS})(?:s|ies)\b(?! of\b)")
# "Type I errors" are nobody's.
_I = re.compile(
    r"(^|[,;:(] ?|\b(?:that|and|which|what|as|if|where|when|but|because|while|how|so|then|whether) )"
    r"I(?=\s+[a-z])"
    r"|()\b(?:[Mm]y|me|myself)\b(?!\.)"
)
_PROPOSED = re.compile(r"\b(?:the|this) (proposed|presented) (?=[a-z])", re.IGNORECASE)
_KNOWLEDGE = re.compile(r"\b(to (?:the best of )?)(?:our|my) knowledge\b", re.IGNORECASE)
_CONTRACTED = re.compile(r"\b(we|I)['’](ve|re|ll|d|m)\b", re.IGNORECASE)
_FULL = {"ve": "have", "re": "are", "ll": "will", "d": "would", "m": "am"}
_PLURAL = {"i": "we", "my": "our", "me": "us", "myself": "ourselves"}
_WE_THEN = re.compile(
    r"^(We|I) (?:then|also|next|further|thus|therefore|hence|finally|additionally) (?=[a-z])"
)
# A line ended within the word.
_BROKEN = re.compile(r"(?<=[a-z])- (?!(?:and|or|to|but|nor)\b)(?=[a-z])")
_FOOTNOTE = re.compile(r"\b([a-z]{5,})\d\b")


def plain(sentence: str) -> str:
    """Return a sentence without citations in brackets and without what tied it to the one before."""
    text = _LAST_PURPOSE.sub("", _BRACKETS.sub("", " ".join(sentence.split())))
    text = _BROKEN.sub("-", text)
    text = _FOOTNOTE.sub(r"\1", re.sub(r"\s+([.,;:])", r"\1", text))
    while (shorter := without_lead(_without_own_lead(text))) != text and shorter:
        text = shorter
    return _WE_THEN.sub(r"\1 ", text)


def _without_own_lead(text: str) -> str:
    rest = _PURPOSE.sub("", _LEAD.sub("", text, count=1), count=1)
    return rest[:1].upper() + rest[1:]


def can_stand_alone(text: str) -> bool:
    """Tell whether a plain sentence can be read by itself: whole, and pointing to no other place."""
    return bool(text) and is_quotable(text) and _ELSEWHERE.search(text) is None and text[-1] != "?"


def leans(text: str) -> bool:
    """Tell whether a plain sentence opens by pointing to the one before it."""
    first = words(text)[:1]
    if _THIS_PAPER.match(text):
        return False
    unclear = bool(vocabulary().unclear_start.intersection(first)) or points_back(text)
    return unclear or _LEANING.match(text) is not None


def points_away(text: str) -> bool:
    """Tell whether a sentence says "these" or "this" of something that it has not named."""
    if _POINTING.search(text):
        return True
    return any(
        not _content(found[1]) & _content(text[: found.start()]) for found in _DEMONSTRATIVE.finditer(text)
    )


def _content(text: str) -> set[str]:
    known = vocabulary()
    return {stem(word) for word in words(text) if word not in known.function and len(word) > 2}


def is_own(text: str) -> bool:
    """Tell whether a sentence speaks of its authors' own work."""
    return _OWN.search(text) is not None


def is_of_others(text: str) -> bool:
    """Tell whether a sentence cites others, or says what was usual before."""
    cites = _CITES.search(text) is not None or any(re.search(r"\d", one) for one in _BRACKETS.findall(text))
    return cites or _BEFORE.search(text) is not None


def told(text: str, authors: Sequence[Author]) -> str:
    """Return a plain sentence in the third person, with nothing in it that reads as a label."""
    text = _PROPOSED.sub(lambda found: _cased(found[0], f"our {found[1]} "), text, count=1)
    text = _CONTRACTED.sub(lambda found: f"{found[1]} {_FULL[found[2].lower()]}", text)
    text = _KNOWLEDGE.sub(r"\1their knowledge", _I.sub(_as_plural, text))
    # "The paper presents": of an author alone, or of a group without names, "the authors" would say less.
    if _are_named(authors) and (does := _PAPER_DOES.match(text)):
        rest = _AND_DOES.sub(lambda found: found[1] + _plural_verb(found[2]), text[does.end() :])
        text = f"We {does['adverb'] or ''}{_plural_verb(does['verb'])}{rest}"
    text = _IN_THIS.sub("", text)
    text = _THIS_PAPER.sub(lambda found: _cased(found[0], f"the {found[1].lower()}"), text)
    return without_labels(in_third_person(text, authors))


def _are_named(authors: Sequence[Author]) -> bool:
    return sum(bool(author.given) for author in authors) > 1


_LAST_PURPOSE = re.compile(
    r",? (?:in order )?to (?:tackle|address|solve|overcome|alleviate|mitigate|handle|resolve) "
    r"(?:these|this|those|such|the above) (?:\w+ )?"
    r"(?:problems?|issues?|challenges?|limitations?|shortcomings?|gaps?|needs?)"
    r"(?=[.!]?$)",
    re.IGNORECASE,
)


def _as_plural(found: re.Match[str]) -> str:
    before = found[1] or ""
    plural = _PLURAL[found[0][len(before) :].lower()]
    return before + (plural if found.start() + len(before) else plural.capitalize())


def _plural_verb(verb: str) -> str:
    if verb.lower() in ("stud", "appl"):
        return f"{verb}y"
    return verb[:-1] if verb.lower() in ("addresse", "discusse", "focuse") else verb


def _cased(like: str, text: str) -> str:
    return text[:1].upper() + text[1:] if like[:1].isupper() else text


# "Experimental results show": no name either.
_PLAIN = frozenset(("experimental", "empirical", "extensive", "comprehensive"))


def lowered(text: str) -> str:
    """Return a sentence as it goes on within another: a word that only opens sentences loses its capital."""
    known = vocabulary()
    first = text.split(maxsplit=1)[0].rstrip(",") if text else ""
    opens = first[1:].islower() or len(first) == 1
    plain_word = first.lower() in known.function | known.generic | known.aspects | known.verbs | _PLAIN
    return text[:1].lower() + text[1:] if opens and plain_word else text


def without_stop(text: str) -> str:
    return text.rstrip().rstrip(".!").rstrip()
