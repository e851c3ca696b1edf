"""Sentences of papers rewritten for use elsewhere: in the third person, without connectives."""

import re
from collections.abc import Sequence

from assistant.checking.citations import without_labels
from corpus.records import Author
from corpus.wording import capitalised, possessive, short_authors

_LEAD = re.compile(
    r"^(?:however|moreover|furthermore|in addition|additionally|therefore|thus|hence|finally|specifically|"
    r"in particular|to this end|also|besides|meanwhile|for example|for instance|in contrast|as a result|"
    r"on the other hand|consequently|accordingly|in this (?:paper|work|study|article)|nevertheless|"
    r"first|second|third|fourth|fifth|last(?:ly)?|notably|importantly|interestingly|concretely|instead|further|"
    r"correspondingly|in turn|in response|in (?:this regard|this context|light of this)|by doing so),\s+",
    re.IGNORECASE,
)
_IN_THIS_PAPER = re.compile(r"^in this (?:paper|work|study|article),?\s+(?=we\b)", re.IGNORECASE)
# Further connectives at the beginning of a sentence.
_FURTHER_LEAD = re.compile(
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
# Citations and cross-references: "(Smith, 1999; Doe et al.)", "[3, 4]", "(see Table 2)".
_BRACKETS = re.compile(
    r"(?:(?<!\s)\s++)?(?:"
    r"\([^()]{0,200}(?:\b(?:18|19|20)\d\d[a-z]?\b|\bet al\b)[^()]{0,80}\)"
    r"|\[\s*\d{1,3}(?:\s*[,;–-]\s*\d{1,3})*\s*\]"
    r"|\[[A-Z][^\[\]]{0,80}\b(?:18|19|20)\d\d[a-z]?\s*\]"
    r"|\(\s*+(?:see|cf\.?|as in|shown in)?\s*+(?:also\s++)?"
    r"(?:Sections?|Sect?s?\.|Figures?|Figs?\.|Tables?|Tab\.|Appendix|§|Eqs?\.|Equations?)[^()]{0,60}\))",
)
# Not "Proposed by (Smith, 1999)", where the citation is part of the sentence.
_BRACKETS_APART = re.compile(
    "".join(rf"(?<!\b{word})(?<!\b{word}\s)" for word in ("by", "in", "of", "from", "with", "to", "see"))
    + rf"(?:{_BRACKETS.pattern})"
)
# "To address these issues, we", "Based on this analysis, we": they refer to the sentence before.
_PURPOSE = re.compile(
    r"^(?:(?:in order )?to \w+(?: \w+)? (?:this|these|those|it|them|such|the (?:above|aforementioned))\b"
    r"[^,]{0,60},\s+"
    r"|following (?:this|these|that) [^,]{0,40},\s+(?=we\b)"
    r"|(?:in order )?to [^,]{0,80}\b(?:this|these|those|such)\b[^,]{0,60},\s+(?=we\b)"
    r"|(?:based on|motivated by|inspired by|building on|given|driven by) (?:the |this |these |such )?"
    r"(?:above |our )?(?:analys[ie]s|observations?|findings?|insights?|facts?|results?),\s+)",
    re.IGNORECASE,
)
_LAST_PURPOSE = re.compile(
    r",? (?:in order )?to (?:tackle|address|solve|overcome|alleviate|mitigate|handle|resolve) "
    r"(?:these|this|those|such|the above) (?:\w+ )?"
    r"(?:problems?|issues?|challenges?|limitations?|shortcomings?|gaps?|needs?)"
    r"(?=[.!]?$)",
    re.IGNORECASE,
)
# The number of a footnote before its text: "2 Similarly, given a list".
_FOOTNOTE_NUMBER = re.compile(
    r"^\d{1,2} (?=(?:The|This|These|We|In|For|Note|It|Our|As|If|However|Similarly|Here|See|All|When)\b)"
)
_WE_THEN = re.compile(
    r"^(We|I) (?:then|also|next|further|thus|therefore|hence|finally|additionally) (?=[a-z])"
)
# A word hyphenated at the end of a line.
_BROKEN = re.compile(r"(?<=[a-z])- (?!(?:and|or|to|but|nor)\b)(?=[a-z])")
_FOOTNOTE = re.compile(r"\b([a-z]{5,})\d\b")
_FIRST_PERSON = re.compile(r"\b(we|our|ours|us|ourselves)\b", re.IGNORECASE)
_THIRD_PERSON = {"we": "they", "our": "their", "ours": "theirs", "us": "them", "ourselves": "themselves"}
_IN_THIS = re.compile(r"(?<=\w),? in this (?:paper|work|study|article)\b,?(?=[ .])", re.IGNORECASE)
_THIS_PAPER = re.compile(
    r"\b(?:this|the (?:present|current)) (paper|work|study|article|report|note|thesis|research)\b",
    re.IGNORECASE,
)
_SUBTITLE = re.compile(r": |(?<=\?) ")
_VERBS = (
    r"present|propose|describe|introduce|investigate|explore|examine|addresse|discusse|report|show|demonstrate|"
    r"analyze|analyse|consider|argue|develop|compare|provide|evaluate|outline|tackle|extend|offer|detail|focuse|"
    r"aim|suggest|contribute|follow|trace|review|survey|summari[sz]e|collect|explain|bring|make|give|seek|employ|use|test|conclude|achieve|stud(?=ies)|appl(?=ies)"
)
_PAPER_DOES = re.compile(
    r"^(?:this|the|our) (?:(?:present|current) )?(?:paper|article|work|study|report|note) "
    rf"(?P<does>(?P<adverb>(?:also|further|therefore|first|briefly) )?(?P<verb>{_VERBS})(?:s|ies)\b)",
    re.IGNORECASE,
)
_AND_DOES = re.compile(rf"\b(and (?:also )?)({_VERBS})(?:s|ies)\b(?! of\b)")
# Not "Type I errors", nor a pair of languages, "My-En".
_I = re.compile(
    r"(^|[,;:(] ?|\b(?:that|and|which|what|as|if|where|when|but|because|while|how|so|then|whether) )"
    r"I(?=\s+[a-z])"
    r"|()\b(?:[Mm]y|me|myself)\b(?![.-])"
)
_PROPOSED = re.compile(r"\b(?:the|this) (proposed|presented) (?=[a-z])", re.IGNORECASE)
_KNOWLEDGE = re.compile(r"\b(to (?:the best of )?)(?:our|my) knowledge\b", re.IGNORECASE)
_CONTRACTED = re.compile(r"\b(we|I)['’](ve|re|ll|d|m)\b", re.IGNORECASE)
_FULL = {"ve": "have", "re": "are", "ll": "will", "d": "would", "m": "am"}
_PLURAL = {"i": "we", "my": "our", "me": "us", "myself": "ourselves"}


def speaks_of_itself(sentence: str) -> bool:
    """Return True if a sentence has a pronoun of the first person."""
    return _FIRST_PERSON.search(sentence) is not None


def without_lead(sentence: str) -> str:
    """Return a sentence without a connective at its beginning."""
    return capitalised(_LEAD.sub("", _IN_THIS_PAPER.sub("", sentence), count=1))


def brackets(sentence: str) -> list[str]:
    """Return the citations and cross-references in brackets."""
    return _BRACKETS.findall(sentence)


def plain(sentence: str) -> str:
    """Return a sentence without citations in brackets, connectives and references to the one before."""
    text = _FOOTNOTE_NUMBER.sub("", " ".join(sentence.split()))
    text = _LAST_PURPOSE.sub("", _BRACKETS_APART.sub("", text))
    text = _BROKEN.sub("-", text)
    text = _FOOTNOTE.sub(r"\1", re.sub(r"(?<!\s)\s++([.,;:])", r"\1", text))
    while (shorter := _shortened(text)) != text and shorter:
        text = shorter
    return _WE_THEN.sub(r"\1 ", text)


def _shortened(text: str) -> str:
    return without_lead(capitalised(_PURPOSE.sub("", _FURTHER_LEAD.sub("", text, count=1), count=1)))


def told(text: str, authors: Sequence[Author], title: str = "") -> str:
    """Return a plain sentence in the third person, without anything that reads as a label.

    The subject of "this paper proposes" becomes the authors, or the title if fewer than two are named.
    """
    text = _PROPOSED.sub(lambda match: _cased(match[0], f"our {match[1]} "), text, count=1)
    text = _CONTRACTED.sub(lambda match: f"{match[1]} {_FULL[match[2].lower()]}", text)
    text = _KNOWLEDGE.sub(r"\1their knowledge", _I.sub(_as_plural, text))
    if does := _PAPER_DOES.match(text):
        text = _with_subject(text, does, authors, title)
    text = _IN_THIS.sub("", text)
    text = _THIS_PAPER.sub(lambda match: _cased(match[0], f"the {match[1].lower()}"), text)
    return without_labels(in_third_person(text, authors))


def _with_subject(text: str, does: re.Match[str], authors: Sequence[Author], title: str) -> str:
    if sum(bool(author.given) for author in authors) > 1:
        rest = _AND_DOES.sub(lambda match: match[1] + _plural_verb(match[2]), text[does.end() :])
        return f"We {does['adverb'] or ''}{_plural_verb(does['verb'])}{rest}"
    # For a single author, or a group without names, the title says more than "the authors".
    name = short_title(title)
    return f"“{name}” {text[does.start('does') :]}" if name else text


def short_title(title: str) -> str:
    """Return a title up to its colon or question mark."""
    return _SUBTITLE.split(without_labels(" ".join(title.split())), maxsplit=1)[0].strip("“”\"'. ")


def subject_of(authors: Sequence[Author]) -> str:
    """Return a paper's authors as a subject: "Smith and Doe", "Smith et al." or "the authors"."""
    people = [author for author in authors if author.given]
    return short_authors(people) if len(people) > 1 else "the authors"


def in_third_person(sentence: str, authors: Sequence[Author]) -> str:
    """Return a sentence with the first "we" or "our" replaced by its authors, and the others by "they"."""
    subject = subject_of(authors)
    used = False

    def replaced(match: re.Match[str]) -> str:
        nonlocal used
        word = match[0].lower()
        if match[0] == "US":
            return match[0]
        other = _THIRD_PERSON[word]
        if not used and word in ("we", "our"):
            used = True
            other = subject if word == "we" else possessive(subject)
        return capitalised(other) if match.start() == 0 else other

    return _FIRST_PERSON.sub(replaced, sentence)


def _as_plural(match: re.Match[str]) -> str:
    before = match[1] or ""
    plural = _PLURAL[match[0][len(before) :].lower()]
    return before + (plural if match.start() + len(before) else plural.capitalize())


def _plural_verb(verb: str) -> str:
    if verb.lower() in ("stud", "appl"):
        return f"{verb}y"
    return verb[:-1] if verb.lower() in ("addresse", "discusse", "focuse") else verb


def _cased(like: str, text: str) -> str:
    return capitalised(text) if like[:1].isupper() else text
