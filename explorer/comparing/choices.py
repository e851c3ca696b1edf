"""What is to be compared: the papers, the description of the work at hand, and who compares how."""

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from assistant.comparing.admission import (
    FEWEST_PAPERS,
    LONGEST_DESCRIPTION,
    MOST_KEPT,
    MOST_PAPERS,
    MOST_SAMPLES,
    MOST_VOTES,
)
from assistant.comparing.records import ComparisonOptions, ComparisonRequest, PaperOrder, Planned
from assistant.comparing.wording import budget_said, reused_said
from assistant.records import AssistantError, Parameters
from corpus.errors import CorpusError
from corpus.records import Paper, Scope
from corpus.text import words
from explorer.asking.choices import draw_parameters, draw_writer
from explorer.comparing.desk import Desk, Order
from explorer.comparing.examples import Example, example_comparison
from explorer.navigation import COLLECTION, PAPER
from explorer.parts.finding import search_papers
from explorer.parts.safe_text import escaped, shortened
from explorer.parts.wording import counted, short_authors
from explorer.reader import Reader, current_owner
from explorer.resources import Library

FOUND = 6
LONGEST_SEARCH = 500
USUAL = ComparisonOptions()
# The description that a plan is made with while there is none: it hardly changes what a comparison takes.
NOT_DESCRIBED = "the work at hand"
ORDER_NAMES: dict[PaperOrder, str] = {
    "given": "As added",
    "year": "By year",
    "similarity": "By similarity to the description",
}
WHAT_IT_IS = (
    "Several papers become one cited, comparative text, as a related-work section has it. First the key "
    "elements of each are read, then the text grows paper by paper. Every sentence leads to its passages."
)
# Per setting of Algorithm 1: what it is called, its most, its usual, and what it does.
SETTINGS: dict[str, tuple[str, int, int, str]] = {
    "samples": ("Samples", MOST_SAMPLES, USUAL.samples, "How often each summary kept is continued."),
    "votes": ("Votes", MOST_VOTES, USUAL.votes, "How many votes decide which candidates are kept."),
    "keep": ("Keep", MOST_KEPT, USUAL.keep, "How many candidates go on to the next paper."),
}


def draw_choosing(library: Library, reader: Reader, desk: Desk) -> Order | None:
    """Draw everything that is chosen before a comparison; return what is ordered when it is to begin."""
    st.title("Compare papers", anchor=False)
    if not desk.papers:
        with st.container(key="reading_what_it_is"):
            st.markdown(WHAT_IT_IS)
    papers, work = st.columns([0.56, 0.44], gap="large")
    # The papers are drawn last: the plan tells under which labels they are compared.
    with work:
        order = _draw_order(library, desk)
        plan = plan_of(library, reader, desk, order) if len(desk.papers) >= FEWEST_PAPERS else None
        begins = _draw_beginning(desk, plan)
    with papers, st.container(key="chosen", gap="small"):
        _draw_papers(library, desk, plan if isinstance(plan, Planned) else None)
        _draw_ways_to_papers(library, reader, desk)
    return order if begins else None


def plan_of(library: Library, reader: Reader, desk: Desk, order: Order) -> Planned | str:
    """Return what a comparison will read and take, or why it cannot be had; made anew when it changes."""
    about = order.request.about if words(order.request.about) else NOT_DESCRIBED
    request = ComparisonRequest(order.request.papers, about, order.request.options)
    key = (request, order.writer, order.parameters, library.corpus.manifest.versions)
    if desk.plan is None or desk.plan[0] != key:
        try:
            comparer = library.comparer(order.writer, order.parameters, current_owner(reader))
            desk.plan = (key, comparer.plan(request))
        except (AssistantError, CorpusError) as error:
            desk.plan = (key, str(error))
    return desk.plan[1]


def _draw_order(library: Library, desk: Desk) -> Order:
    key = f"about_{desk.opened}"
    if key not in st.session_state:
        st.session_state[key] = desk.about
    about = st.text_area(
        "What your own work is about",
        height=150,
        max_chars=LONGEST_DESCRIPTION,
        key=key,
        placeholder="Your topic, your question or your abstract: what the papers are compared for.",
    )
    desk.about = str(about or "")
    # One below the other: beside each other their names are cut where the drawer on the left is open.
    order = _draw_paper_order()
    writer = draw_writer(library.writers())
    options, parameters = _draw_manner(library, writer, order)
    return Order(ComparisonRequest(desk.papers, desk.about, options), writer, parameters)


def _draw_paper_order() -> PaperOrder:
    orders = list(ORDER_NAMES)
    chosen = st.selectbox(
        "Order of the papers",
        orders,
        format_func=lambda one: ORDER_NAMES[one],
        key="compare_order",
        persist_state="session",
        help="The text takes the papers up in this order, and they are labelled in it.",
    )
    return chosen if chosen in ORDER_NAMES else orders[0]


def _draw_manner(
    library: Library, writer: str, order: PaperOrder
) -> tuple[ComparisonOptions, Parameters | None]:
    """Draw how a writer that asks a model is to go about it; the one without has nothing to be set."""
    usual = library.usual_parameters(writer)
    if usual is None:
        return ComparisonOptions(order=order), None
    with st.expander("How it is written", icon=":material/tune:", key="compare_manner"):
        samples, votes, keep = map(_draw_setting, SETTINGS, st.columns(len(SETTINGS), gap="small"))
        parameters = draw_parameters(library, writer, usual)
    return ComparisonOptions(samples, votes, keep, order), parameters


def _draw_setting(name: str, place: DeltaGenerator) -> int:
    label, most, usual, meaning = SETTINGS[name]
    key = f"compare_{name}"
    chosen = place.number_input(label, 1, most, usual, 1, key=key, persist_state="session", help=meaning)
    return int(chosen)


def _draw_beginning(desk: Desk, plan: Planned | str | None) -> bool:
    """Say what the comparison takes, and draw the button that begins it; tell whether it was clicked."""
    with st.container(key="plan", gap="xsmall"):
        if isinstance(plan, str):
            st.markdown(escaped(plan))
        elif plan:
            _draw_plan(plan)
        for note in (desk.failure, *desk.notes):
            if note:
                st.markdown(f":material/info: {escaped(note)}")
        # Without a description it can be clicked: what is being typed is only sent by that.
        too_few = len(desk.papers) < FEWEST_PAPERS
        begins = st.button("Compare", type="primary", key="compare", disabled=too_few)
        missing = missing_said(desk)
        if missing:
            st.caption(missing)
    return begins and not missing


def _draw_plan(plan: Planned) -> None:
    st.caption(escaped(budget_said(plan.budget)))
    for said in (reused_said(plan), *plan.remarks):
        if said:
            st.caption(escaped(said))


def missing_said(desk: Desk) -> str:
    """Return what has to be chosen before papers can be compared, "" where nothing has."""
    if not desk.papers:
        return f"Choose {FEWEST_PAPERS} to {MOST_PAPERS} papers first."
    if len(desk.papers) < FEWEST_PAPERS:
        return "Choose at least one more paper."
    if not words(desk.about):
        return "Say what your own work is about: the papers are compared for it."
    return ""


def _draw_papers(library: Library, desk: Desk, plan: Planned | None) -> None:
    """Draw the chosen papers, in the order and under the labels of the plan where there is one."""
    with st.container(horizontal=True, vertical_alignment="center", key="chosen_head"):
        st.markdown(f"**{counted(len(desk.papers), 'paper')}**", width="content")
        st.caption(f"{FEWEST_PAPERS} to {MOST_PAPERS} can be compared at once", width="content")
        if desk.papers:
            st.button("Clear", key="compare_clear", type="tertiary", on_click=desk.clear)
    if plan:
        rows = [(f"\\[{one.label}\\] ", one.paper) for one in plan.papers]
    else:
        rows = [("", paper) for paper in library.corpus.papers_by_id(desk.papers)]
    with st.container(key="chosen_papers", gap="xsmall"):
        for number, (label, paper) in enumerate(rows, start=1):
            _draw_row(desk, number, label, paper)


def _draw_row(desk: Desk, number: int, label: str, paper: Paper) -> None:
    with st.container(horizontal=True, vertical_alignment="center", gap="xsmall", key=f"desk_row_{number}"):
        title = f"{label}{escaped(shortened(paper.title, 110))}{_who(paper)}"
        st.page_link(PAPER, label=title, query_params={"id": paper.id}, width="stretch")
        st.button(
            ":material/close:",
            key=f"remove_{number}",
            type="tertiary",
            help=f"Take out: {escaped(shortened(paper.title, 80))}",
            on_click=desk.remove,
            args=(paper.id,),
        )


def _who(paper: Paper) -> str:
    """Return, as Markdown, who wrote a paper and when."""
    said = ", ".join(part for part in (short_authors(paper.authors), str(paper.year or "")) if part)
    return f" :gray[{escaped(shortened(said, 60))}]" if said else ""


def _draw_ways_to_papers(library: Library, reader: Reader, desk: Desk) -> None:
    if len(desk.papers) < MOST_PAPERS:
        _draw_search(library, desk)
    else:
        st.caption(f"{MOST_PAPERS} papers are chosen, the most that can be compared at once.")
    with st.container(horizontal=True, vertical_alignment="center", key="more_papers"):
        if others := tuple(one for one in reader.picked if one not in desk.papers):
            st.button(
                f"Add the {counted(len(others), 'selected paper')}",
                key="add_picked",
                icon=":material/add:",
                on_click=desk.add,
                args=(others,),
            )
        st.page_link(COLLECTION, label="Choose in the collection", icon=":material/library_books:")
        if not desk.papers and (example := example_comparison(library.corpus)):
            st.button(
                f"Begin with an example: {counted(len(example.papers), 'paper')}",
                key="compare_example",
                type="tertiary",
                icon=":material/arrow_forward:",
                on_click=_take_example,
                args=(desk, example),
            )


def choose_again(library: Library, desk: Desk) -> None:
    """Go back to the choice of what was compared, with the settings that it was compared with."""
    if desk.order:
        options = desk.order.request.options
        chosen = {"order": options.order, "samples": options.samples, "keep": options.keep}
        for name, value in (chosen | {"votes": max(1, options.votes)}).items():
            st.session_state[f"compare_{name}"] = value
        if desk.order.writer in {one.name for one in library.writers()}:
            st.session_state["writer"] = desk.order.writer
    desk.choose_again()


def _take_example(desk: Desk, example: Example) -> None:
    desk.papers, desk.about, desk.notes = example.papers, example.about, ()
    # Another key is another field: one that was drawn keeps what was written in it.
    desk.opened += 1


def _draw_search(library: Library, desk: Desk) -> None:
    query = st.text_input(
        "Add papers",
        key=f"compare_search_{desk.opened}",
        live="300ms",
        type="search",
        placeholder="Search titles, abstracts and texts to add papers",
        label_visibility="collapsed",
        icon=":material/search:",
    )
    query = str(query or "")[:LONGEST_SEARCH]
    if not words(query):
        return
    found = search_papers(library.corpus, library.encoder, query, Scope())
    fresh = [one.paper for one in found if one.paper.id not in desk.papers]
    with st.container(key="found_papers", gap="xxsmall"):
        if not fresh:
            st.caption("No other paper matches." if found else "No paper here matches this.")
        for number, paper in enumerate(fresh[:FOUND], start=1):
            st.button(
                f"{escaped(shortened(paper.title, 110))}{_who(paper)}",
                key=f"add_{number}",
                type="tertiary",
                icon=":material/add:",
                width="stretch",
                on_click=desk.add,
                args=((paper.id,),),
            )
