"""Hyphens at line ends: those of compounds are kept, by a word list, others removed."""

from corpus.encoders.base import ordinary_words

# First halves with as many closed as hyphenated compounds in ACL abstracts: the document decides.
_CLOSING = frozenset(
    "auto back bi by con counter de dis down ex fore hyper in inter macro mega mis off on out over para "
    "per photo pre pro re sub super tele trans ultra un under up with".split()
)
# First halves that keep their hyphen before nearly any word.
_HYPHENATED = frozenset("all cross ever half ill self well".split())
# Words that are more often parts of other words than of compounds.
_PARTS = frozenset(
    "able ally ants ates ation berg burg ding ently ester esters fully hood ings ions ives less ling man "
    "ment ments meters more ness field ford ring sets ship sing some sting tables tent ting tion tive "
    "town ware ways wood works work worth".split()
)
_SHORT = frozenset(
    "age air art bad bed big box car day dry end eye few five free gas gun hot ice ill job key law low "
    "man map new non off oil old one own red sea set sex shy six sun tax ten tie tip top toy two war web "
    "wet".split()
)
# Closed compounds of research papers that the word list lacks.
_CLOSED = frozenset(
    "backbone baseline benchmark bitext bootstrap breakdown chatbot codebase commonsense crowdsource "
    "crowdworker dataset decoder encoder feedforward framework graphics groundwork hashtag hotspot "
    "hyperlink keyphrase keyword keystroke leaderboard leverage lexical lexicon lookup metric "
    "misinformation newswire onset outlier pairwise parser parsing pipeline pitfall placeholder proofread "
    "quantile robustness runtime shortcoming singular subset surpass synset syntactic tagset testbed "
    "textbook threefold timeline timestamp toolbox toolkit treebank trustworthy twofold viewpoint wordnet "
    "wordpiece workflow worldwide".split()
)


def is_compound(first: str, second: str) -> bool:
    """Return True if two lower-case halves of a word broken at a line end form a hyphenated compound.

    Both must be words, and the two together none: "well-known", "river-bank", but "infor-mation".
    """
    if is_word(first + second) or second in _PARTS or not (first.isalpha() and second.isalpha()):
        return False
    if first in _HYPHENATED:
        return len(second) > 2
    if first in _CLOSING or not all(len(half) > 3 or half in _SHORT for half in (first, second)):
        return False
    return is_word(first) and is_word(second)


def is_word(text: str) -> bool:
    """Return True for a lower-case ordinary word, also inflected."""
    words = ordinary_words()
    stems = (text.removesuffix(ending) for ending in ("s", "d", "es", "ed", "ing", "ly"))
    return text in words or any(stem in words or stem in _CLOSED for stem in stems if len(stem) > 3)
