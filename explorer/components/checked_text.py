"""A checked text: its sentences with citations, the findings of the check, and its references."""

from collections.abc import Callable, Mapping
from contextlib import nullcontext
from dataclasses import dataclass

import streamlit as st

from assistant.records import Answer
from corpus.records import parse_passage_id
from explorer.app.navigation import PAPER, link_to
from explorer.components.rows import fold
from explorer.components.score_bar import NOT_MEASURED, citation_bars, describe_support
from explorer.presenters.citations import (
    Checked,
    better_cited,
    first_number,
    format_better,
    format_claims,
    format_not_carried,
    format_off,
    format_problems,
    format_unsaid,
    format_weak,
    format_without_source,
    found_numbers,
    invented,
    known_labels,
    sources,
    supports,
    uncited,
    uncited_ends,
    weak_numbers,
    with_unsaid_phrases,
)
from explorer.presenters.safe_text import answer_markdown, escaped, shortened
from explorer.presenters.wording import short_reference

INVENTED = (
    "Labels that name no paper which the writer was given stay in the text with a question mark. They lead "
    "nowhere, and none counts as a citation that is needed."
)
UNCITED = (
    "Claims without a citation stay in the text with the sign †. There was nothing to check them against."
)
NOT_CARRIED = "The model wrote these sentences as well. No paper that it was given supports them."
UNSAID = "No paper that these sentences cite says these phrases. Look them up before you use them."
BETTER = "The model cited another paper for these sentences, which hardly supports them."
LONGEST_QUOTED = 240


@dataclass(frozen=True, slots=True)
class CitationFocus:
    """The number of the citation in focus, 0 for none, and a function that focuses another."""

    number: int
    open: Callable[[int], None]


def draw_checked(number: int, checked: Checked, focus: CitationFocus) -> None:
    """Draw text `number` of the screen and the findings of its check.

    The links of its citations contain that number; `draw_bars` draws their bars.
    """
    found = found_numbers(checked)
    if off := format_off(checked.answer):
        st.caption(escaped(off))
    with st.container(key=f"reading_answer_{number}"):
        st.markdown(
            answer_markdown(
                checked.answer.text,
                number,
                known_labels(checked),
                uncited_ends(checked.answer),
                scores=[
                    describe_support(support) + (", found by the check" if number in found else "")
                    for number, support in enumerate(supports(checked), start=1)
                ],
            )
        )
    _draw_findings(number, checked, focus)


def draw_bars(texts: Mapping[int, Checked]) -> None:
    """Draw one style sheet with the bars beside the citations of a screen's texts, by text number."""
    if texts:
        st.html(
            "".join(
                citation_bars(number, supports(checked), found_numbers(checked))
                for number, checked in texts.items()
            )
        )


def _draw_findings(number: int, checked: Checked, focus: CitationFocus) -> None:
    """Draw a line for each finding of the check."""
    answer, weak = checked.answer, weak_numbers(checked)
    problems, claims, title = format_problems(answer), format_claims(answer), format_without_source(answer)
    # Most answers have one line, which needs no container.
    taken_out, better, unsaid = format_not_carried(answer), format_better(answer), format_unsaid(answer)
    is_long = problems or weak or title or taken_out or better or unsaid
    several = st.container(key=f"findings_{number}", gap="xxsmall") if is_long else None
    with several or nullcontext():
        if problems:
            st.caption(escaped(problems))
        if weak:
            with st.container(horizontal=True, vertical_alignment="center", gap="xsmall"):
                st.caption(format_weak(len(weak)), width="content")
                args = (weak, focus)
                st.button("show", key=f"weak_{number}", type="tertiary", on_click=show_next, args=args)
        if claims:
            st.caption(escaped(claims), help=NOT_MEASURED)
        if title:
            with st.expander(title, type="compact", key=f"without_source_{number}"):
                _draw_without_source(answer)
        if unsaid:
            with st.expander(unsaid, type="compact", key=f"unsaid_{number}"):
                st.caption(UNSAID)
                for sentence in with_unsaid_phrases(answer):
                    phrases = ", ".join(map(_quoted, sentence.not_said))
                    st.markdown(f"- {phrases} in {_quoted(sentence.claim)}")
        if better:
            with st.expander(better, type="compact", key=f"better_{number}"):
                _draw_better(checked)
        if taken_out:
            with st.expander(taken_out, type="compact", key=f"not_carried_{number}"):
                st.caption(NOT_CARRIED)
                st.markdown("\n".join(f"- {_quoted(claim)}" for claim in answer.not_carried))


def show_next(numbers: tuple[int, ...], focus: CitationFocus) -> None:
    """Focus the citation in `numbers` after the one in focus, else the first."""
    focus.open(next((number for number in numbers if number > focus.number), numbers[0]))


def _draw_without_source(answer: Answer) -> None:
    """Draw the sentences with invented labels, and the claims without a citation."""
    if sentences := invented(answer):
        st.caption(INVENTED)
        lines = []
        for sentence in sentences:
            labels = " ".join(f"[{label}?]" for label in sentence.unknown_labels)
            lines.append(f"- {escaped(labels)} {_quoted(sentence.claim)}")
        st.markdown("\n".join(lines))
    if claims := uncited(answer):
        st.caption(UNCITED)
        st.markdown("\n".join(f"- {_quoted(sentence.claim)}" for sentence in claims))


def _draw_better(checked: Checked) -> None:
    st.caption(BETTER)
    for sentence, citation in better_cited(checked.answer):
        st.markdown(f"- {_quoted(sentence.claim)} ({describe_support(citation.support)})")
        if labelled := checked.evidence.paper(citation.label):
            passage = str(parse_passage_id(citation.passage_id)[1])
            label = f"[{citation.label}] {shortened(citation.evidence, 110)}"
            paper_link(label, labelled.paper.id, passage)


def _quoted(claim: str) -> str:
    return f"“{escaped(shortened(claim, LONGEST_QUOTED))}”"


def draw_references(number: int, checked: Checked, focus: CitationFocus) -> None:
    """Draw a button per cited paper, which focuses its first citation; the other papers are in a fold."""
    found = sources(checked)
    cited = checked.answer.cited_labels
    with st.container(key=f"quiet_references_{number}", gap="xxsmall"):
        if cited:
            st.markdown("**References**")
        for label in sorted(cited):
            labelled, first = checked.evidence.paper(label), first_number(found, label)
            if labelled and first:
                st.button(
                    f"\\[{label}\\] {escaped(shortened(short_reference(labelled.paper), 140))}",
                    key=f"cite_{number}_{label}",
                    type="tertiary",
                    help="Show the passage",
                    on_click=focus.open,
                    args=(first,),
                )
    if others := [paper for paper in checked.evidence.papers if paper.label not in cited]:
        with fold(f"Not cited: {len(others)} more", f"not_cited_{number}") as is_drawn:
            for paper in others if is_drawn else ():
                paper_link(f"[{paper.label}] {short_reference(paper.paper)}", paper.paper.id)


def paper_link(label: str, paper_id: str, passage: str = "") -> None:
    query = {"id": paper_id, "passage": passage} if passage else {"id": paper_id}
    link_to(PAPER, escaped(shortened(label, 140)), query_params=query)
