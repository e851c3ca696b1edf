"""What checking found in an answer, in words for readers. No Streamlit."""

from assistant.attribution import is_weak
from assistant.records import Answer, AnswerSentence
from assistant.wording import PROBLEMS
from explorer.parts.citations import Checked, sources
from explorer.parts.wording import counted


def problems_said(answer: Answer) -> str:
    """Return what was wrong with the reply, "" where nothing was."""
    if not answer.problems:
        return ""
    words = [PROBLEMS[problem] for problem in answer.problems]
    return " ".join([*words, "The reply as it was received is under Trail, “What was sent”."])


def uncited(answer: Answer) -> tuple[AnswerSentence, ...]:
    """Return the sentences that make a claim and cite nothing.

    Answers of a time before claims were told from other sentences have nothing counted: there each counts.
    """
    if answer.citation_recall is None:
        return tuple(one for one in answer.sentences if not one.citations)
    return tuple(one for one in answer.sentences if one.needs_citation)


def uncited_ends(answer: Answer) -> tuple[int, ...]:
    """Return where the sentences end that make a claim and cite nothing."""
    return tuple(
        sentence.start + len(answer.text[sentence.start : sentence.end].rstrip())
        for sentence in uncited(answer)
    )


def weak_numbers(checked: Checked) -> tuple[int, ...]:
    """Return, for each sentence that what it cites hardly supports, the number of its first citation."""
    found = sources(checked)
    weak = [one for one in checked.answer.sentences if is_weak(one)]
    firsts = (
        next((source.number for source in found if source.citation in one.citations), None) for one in weak
    )
    return tuple(number for number in firsts if number is not None)


def weak_said(count: int) -> str:
    return f"{counted(count, 'sentence')} {'is' if count == 1 else 'are'} only weakly supported"


def uncited_said(count: int) -> str:
    return f"{counted(count, 'sentence')} {'makes' if count == 1 else 'make'} a claim without a citation"


def claims_said(answer: Answer) -> str:
    """Return how many claims and citations hold, "" where they were not counted (ALCE, section 4)."""
    parts = []
    claims = [one for one in answer.sentences if one.labels or one.unknown_labels or one.needs_citation]
    if answer.citation_recall is not None and claims:
        held = round(answer.citation_recall * len(claims))
        is_one = 1 in (held, len(claims))
        verb = "is supported by what it cites" if is_one else "are supported by what they cite"
        parts.append(f"{held} of {counted(len(claims), 'claim')} {verb}")
    citations = sum(len(one.citations) + len(one.unknown_labels) for one in claims)
    if answer.citation_precision is not None and citations:
        useful = round(answer.citation_precision * citations)
        verb = "is" if 1 in (useful, citations) else "are"
        parts.append(f"{useful} of {counted(citations, 'citation')} {verb} needed for that")
    return " · ".join(parts)
