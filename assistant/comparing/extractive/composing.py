"""A comparative summary composed of selected sentences: grouped, in order of years, every one cited."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations, islice, product

from assistant.comparing.extractive.accounts import Account
from assistant.comparing.extractive.grouping import Group, likeness
from assistant.comparing.extractive.relating import are_opposed, share_a_name, share_a_term
from assistant.comparing.extractive.sharing import is_plural
from assistant.comparing.extractive.supporting import Supporting
from assistant.comparing.extractive.vectors import EachAlone
from assistant.comparing.extractive.wording import lowered, without_stop
from assistant.comparing.records import ElementName
from corpus.text import words

ALIKE = 0.86
LONGEST_PAIR = 62
LONGEST_PART = 40
LONGEST_RESULTS = 70
MOST_JOINS = 4
# Less alike sentences neither agree nor differ: each stands by itself.
NEIGHBOURS = 0.4
RELATED = 0.5
MOST_LIMITS = 3
FEWEST_NEAR = 3
TRIED = 3
# Of so many papers one may share a sentence that another's citation alone would carry.
SPARED = 5
# How what papers share is said; both are carried by papers that are about it, "work on ..." less often.
_SHARED = ("{term} {be} studied in", "{term} {be} the subject of")
_METHOD = "{term} {play} a part in"
# "Smith et al.", "Smith and Doe", "Smith's", "SummN": such a name begins a clause as it begins a sentence.
_NAMED = re.compile(
    r"[Tt]he authors\b|\S+ (?:et al\.|and (?:[A-Z]|v[ao]n |d[eu] ))"
    r"|\S+(?:'s|’s|s'|s’) |[A-Za-z-]+[A-Z0-9]\S* "
)
_OF_AUTHORS = re.compile(r"\b[A-Z][\w-]+ (?:et al\.|and [A-Z][\w-]+)(?:'s|’s|'|’)|\b[A-Z]\w+(?:'s|’s|s'|s’) ")
# How the last paragraph begins where it speaks of what the described work is nearest to.
_OPEN = "Left open by the work nearest to the description: {text}"
Plan = Mapping[int, int]


@dataclass(frozen=True, slots=True)
class Telling:
    """A way to tell of a paper: which element comes first, which second, and whether two are told in one."""

    first: tuple[ElementName, ...]
    second: tuple[ElementName, ...]
    paired: bool


# What a paper does comes before what came of it.
_DOES: tuple[ElementName, ...] = ("contributions", "methodology", "innovations")
_CAME_OF_IT: tuple[ElementName, ...] = ("results", "conclusions", "research_questions")
# What each sample of a round does with its new papers; further samples begin again.
TELLINGS = (
    Telling(("contributions", "methodology", *_DOES), ("results", "conclusions"), paired=True),
    Telling(("methodology", "contributions", *_DOES), ("conclusions", "results"), paired=False),
    Telling(("innovations", "contributions", *_DOES), (), paired=True),
    Telling(("contributions", *_DOES), (), paired=True),
    Telling(("methodology", *_DOES), ("innovations", "results"), paired=False),
)


@dataclass(frozen=True, slots=True)
class _Turn:
    """A paper whose turn it is to be told, how, and the sentences that may come first."""

    paper: Account
    telling: Telling
    mains: tuple[str, ...]

    @property
    def label(self) -> int:
        return self.paper.label


@dataclass(frozen=True, slots=True)
class _Pair:
    """A sentence that tells of a paper and of the one that follows it there."""

    text: str
    following: _Turn


@dataclass(frozen=True, slots=True)
class _Beside:
    """Results of two papers in one sentence, which can be told when both papers have been."""

    text: str
    labels: frozenset[int]


@dataclass(slots=True)
class _Written:
    """What stands in the summary by now."""

    vectors: EachAlone
    supporting: Supporting
    papers: tuple[Account, ...] = ()
    texts: list[str] = field(default_factory=list)
    terms: set[str] = field(default_factory=set)
    headed: Counter[int] = field(default_factory=Counter)
    spared: int = 0

    def takes(self, text: str, paper: Account) -> bool:
        """Tell whether a sentence is new here and carried by its paper."""
        return not self.has(text) and self.supporting.holds(text, [paper])

    def alike(self, one: str, other: str) -> float:
        """Return the cosine of two sentences."""
        meant, compared = self.vectors.encode_passages([one, other])
        return float(meant @ compared)

    def has(self, text: str) -> bool:
        """Tell whether the same is said already, if in other words."""
        if not self.texts:
            return False
        meant, *others = self.vectors.encode_passages([text, *self.texts])
        return any(float(meant @ other) >= ALIKE for other in others)


def compose(
    groups: Sequence[Group], plan: Plan, near: Sequence[int], vectors: EachAlone, supporting: Supporting
) -> str:
    """Return the summary of all groups, a paragraph each.

    What the papers nearest to the description leave open comes last.
    """
    accounts = {paper.label: paper for group in groups for paper in group.papers}
    written = _Written(vectors, supporting, tuple(accounts.values()), spared=len(accounts) // SPARED)
    paragraphs = [
        *(" ".join(_group(group, plan, written, place)) for place, group in enumerate(groups)),
        " ".join(_limits([accounts[label] for label in near[: max(FEWEST_NEAR, len(near) // 2)]], written)),
    ]
    return "\n\n".join(filter(None, paragraphs))


def telling_in(summary: str, paper: Account) -> int:
    """Return the telling that a summary told a paper by, as far as its sentences show."""
    told = {
        name
        for name, texts in paper.sentences.items()
        if any(without_stop(text)[1:] in summary for text in texts)
    }

    def fits(number: int) -> tuple[bool, int, int]:
        telling = TELLINGS[number]
        place = next((at for at, name in enumerate(telling.first) if name in told), len(telling.first))
        main = set(telling.first[place : place + 1])
        return bool(told - main) == bool(telling.second), -place, -number

    return max(range(len(TELLINGS)), key=fits)


def _sentences(paper: Account, names: Iterable[ElementName]) -> Iterator[str]:
    for name in names:
        yield from paper.sentences.get(name, ())


def _group(group: Group, plan: Plan, written: _Written, place: int) -> Iterator[str]:
    """Yield what a group shares and then its papers, two in one sentence where both are told so."""
    yield from islice(_headings(group, written, place), 1)
    turns = [_turn(paper, TELLINGS[plan.get(paper.label, 0)], written) for paper in group.papers]
    beside = [] if group.are_alone else list(_results_beside(turns, written))
    waiting = {label for one in beside for label in one.labels}
    told: set[int] = set()
    before: Account | None = None
    while turns:
        turn = turns.pop(0)
        pair = None if group.are_alone else _pair(turn, turns, group, written)
        if pair:
            turns.remove(pair.following)
        now = [turn, pair.following] if pair else [turn]
        yield pair.text if pair else _single(turn, None if group.are_alone else before, written)
        yield from _seconds([one for one in now if one.label not in waiting], written, named=bool(pair))
        told |= {one.label for one in now}
        yield from (one.text for one in beside if one.labels <= told and one.labels & {t.label for t in now})
        before = now[-1].paper


def _turn(paper: Account, telling: Telling, written: _Written) -> _Turn:
    """Return a paper's turn with the first few of its sentences that are carried and not yet said."""
    # "The local model uses ..." is read with its paper at hand, "Smith et al. use ..." without it.
    stated = sorted(
        _sentences(paper, telling.first),
        key=lambda text: (_NAMED.match(text) is None, _NAMED.search(text) is None),
    )
    offers = (dict.fromkeys(stated), _sentences(paper, _CAME_OF_IT), paper.spare)
    mains = (_taken(texts, paper, written) for texts in offers)
    return _Turn(paper, telling, next(filter(None, mains), ()))


def _taken(texts: Iterable[str], paper: Account, written: _Written) -> tuple[str, ...]:
    return tuple(islice((text for text in texts if written.takes(text, paper)), TRIED))


def _single(turn: _Turn, before: Account | None, written: _Written) -> str:
    paper = turn.paper
    main = next((text for text in turn.mains if not written.has(text)), "")
    if not main:
        return f"Of “{without_stop(paper.title)}” only the title is told here [{paper.label}]."
    written.texts.append(main)
    later = f"Later, {lowered(main)}"
    # "Later, the authors ..." would be the same ones.
    is_named = _NAMED.match(main) is not None and not main.startswith("The authors")
    is_later = is_named and _is_later(paper, before) and written.supporting.holds(later, [paper])
    return _cited(later if is_later else main, paper.label)


def _is_later(paper: Account, before: Account | None) -> bool:
    if before is None or paper.year is None or before.year is None:
        return False
    return paper.year > before.year


def _seconds(turns: Sequence[_Turn], written: _Written, *, named: bool) -> Iterator[str]:
    """Yield what is told further; behind a pair, only sentences that say whose they are."""
    for turn in turns:
        for text in _sentences(turn.paper, turn.telling.second if turn.mains else ()):
            if (not named or _is_clearly_of(turn, text)) and written.takes(text, turn.paper):
                written.texts.append(text)
                yield _cited(text, turn.label)
                break


def _is_clearly_of(turn: _Turn, text: str) -> bool:
    """Tell whether a sentence says whose it is, or names what its paper was told of."""
    return _says_whose(text, turn.paper) or share_a_name(text, " ".join((turn.paper.title, *turn.mains)))


def _says_whose(text: str, paper: Account) -> bool:
    """Tell whether a sentence names its authors, or begins with a name: it can stand behind another's."""
    name = text.split(maxsplit=1)[0]
    begins = _NAMED.match(text) is not None or name in paper.title.replace(":", " ").split()
    return begins or _OF_AUTHORS.search(text) is not None


def _pair(turn: _Turn, others: Sequence[_Turn], group: Group, written: _Written) -> _Pair | None:
    """Return a paper and the likest of those that follow it in its group in one sentence."""
    offers = [
        (-written.alike(main, sequel), at, main, sequel)
        for at, following in enumerate(others)
        if _may_pair(turn, following, written)
        for main, sequel in product(turn.mains, following.mains)
        if _may_join(main, sequel)
        and (
            group.has_in_common(turn.label, following.label)
            or share_a_term(main, sequel, [turn.paper, following.paper], written.papers)
        )
    ]
    near = [offer for offer in sorted(offers) if NEIGHBOURS <= -offer[0] < ALIKE]
    for _, at, main, sequel in near[:MOST_JOINS]:
        if text := _joined(turn, main, others[at], sequel, written):
            written.texts += [main, sequel]
            return _Pair(text, others[at])
    return None


def _results_beside(turns: Sequence[_Turn], written: _Written) -> Iterator[_Beside]:
    """Yield results of two papers each that name the same data or measure, a paper's once."""
    used: set[int] = set()
    for one, other in combinations(turns, 2):
        if used & {one.label, other.label}:
            continue
        for first, second in product(_results(one), _results(other)):
            if not _may_stand_beside(first, one, second, other, written):
                continue
            if text := _joined(one, first, other, second, written):
                written.texts += [first, second]
                used |= {one.label, other.label}
                yield _Beside(text, frozenset((one.label, other.label)))
                break


def _results(turn: _Turn) -> list[str]:
    """Return what could stand as a paper's second sentence and says whose results they are."""
    return [
        text
        for text in _sentences(turn.paper, turn.telling.second)
        if text not in turn.mains and _is_clearly_of(turn, text)
    ]


def _may_stand_beside(first: str, one: _Turn, second: str, other: _Turn, written: _Written) -> bool:
    is_short = len(words(f"{first} {second}")) <= LONGEST_RESULTS
    is_clear = not (first.startswith("The authors") or second.startswith("The authors"))
    if not (is_short and is_clear and share_a_name(first, second)):
        return False
    return written.takes(first, one.paper) and written.takes(second, other.paper)


def _may_pair(turn: _Turn, following: _Turn, written: _Written) -> bool:
    is_paired = turn.telling.paired and following.telling.paired
    return is_paired and _are_related(turn.paper, following.paper, written.vectors)


def _are_related(one: Account, other: Account, vectors: EachAlone) -> bool:
    """Tell whether two papers are near enough for one sentence: by a common task, or by their subject."""
    if set(one.tasks) & set(other.tasks):
        return True
    return likeness(one, other, vectors) >= RELATED


def _joined(turn: _Turn, main: str, following: _Turn, sequel: str, written: _Written) -> str:
    """Return two sentences in one, if it needs both papers; "while" is for what is opposed."""
    link = "while" if are_opposed(main, sequel) else "and"
    start, end = without_stop(main), without_stop(lowered(sequel))
    if not _needs_both(f"{start}, {link} {end}.", turn.paper, following.paper, written):
        return ""
    return f"{start} [{turn.label}], {link} {end} [{following.label}]."


def _needs_both(claim: str, one: Account, other: Account, written: _Written) -> bool:
    """Tell whether a sentence of two papers needs both citations, or may stand as one of the few that do not.

    Each part is carried by its paper; that a long part alone lends enough to the whole is no fault of it.
    """
    if written.supporting.needs_all(claim, [one, other]):
        return True
    if written.spared and written.supporting.holds(claim, [one, other]):
        written.spared -= 1
        return True
    return False


def _may_join(main: str, sequel: str) -> bool:
    sizes = len(words(main)), len(words(sequel))
    is_short = max(sizes) <= LONGEST_PART and sum(sizes) <= LONGEST_PAIR
    # "The authors ..., while the authors ...": nobody could tell them apart.
    is_clear = not (main.startswith("The authors") and sequel.startswith("The authors"))
    is_plain = not re.search(r"[;:]|\b(?:while|whereas)\b", f"{main} {sequel}")
    # "Progress relies on large models, while Smith et al. ..." would oppose what is not opposed.
    is_told = _NAMED.search(main) is not None and _NAMED.match(sequel) is not None
    return is_short and is_clear and is_plain and is_told


def _headings(group: Group, written: _Written, place: int) -> Iterator[str]:
    """Yield sentences that say what papers of a group share, citing those that carry it; none twice."""
    papers = {paper.label: paper for paper in written.papers}
    for shared in group.shared:
        holders = [papers[label] for label in shared.holders]
        text = _METHOD if shared.is_method else _SHARED[place % len(_SHARED)]
        text = text.format(term=shared.term[:1].upper() + shared.term[1:], **_verbs(shared.term))
        carried = sorted(one.label for one in holders if written.supporting.holds(f"{text}.", [one]))
        within = {paper.label for paper in group.papers} & set(carried)
        is_new = shared.term.lower() not in written.terms and all(written.headed[at] < 2 for at in carried)
        if len(within) > 1 and is_new:
            written.terms.add(shared.term.lower())
            written.headed.update(carried)
            yield f"{text} {''.join(f'[{label}]' for label in carried)}."


def _verbs(term: str) -> dict[str, str]:
    return {"be": "are", "play": "play"} if is_plural(term) else {"be": "is", "play": "plays"}


def _limits(papers: Sequence[Account], written: _Written) -> Iterator[str]:
    """Yield what the first few of the papers say of their own limits."""
    said = 0
    for paper in papers:
        text = next((one for one in _sentences(paper, ("limitations",)) if written.takes(one, paper)), "")
        if text and said < MOST_LIMITS:
            said += 1
            written.texts.append(text)
            yield _cited(text if said > 1 else _opened(text, paper, written), paper.label)


def _opened(text: str, paper: Account, written: _Written) -> str:
    opened = _OPEN.format(text=lowered(text))
    return opened if written.supporting.holds(opened, [paper]) else text


def _cited(sentence: str, label: int) -> str:
    return f"{without_stop(sentence)} [{label}]."
