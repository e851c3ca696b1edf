"""The Compare screen in every state, run by Streamlit without a browser."""

import re
import time
from dataclasses import replace
from math import inf
from pathlib import Path

import pytest

from assistant.comparing.records import ComparisonOptions
from assistant.exports.registry import COMPARISON_FORMATS
from assistant.records import AssistantError, Evidence
from assistant.storage.comparisons import ComparisonStore
from assistant.trail.comparison_file import comparison_to_json
from explorer.app.resources import Library
from explorer.app.session import Current
from explorer.app.visitor.comparison import ComparisonSession
from explorer.app.visitor.session import VisitorSession
from explorer.compare.kept import import_comparison
from explorer.compare.trail import call_title
from tests.assistant.comparing.comparing_model import ComparingModel, elements_reply, vote_reply_text
from tests.explorer.asking import open_menu, texts
from tests.explorer.comparing import (
    ABOUT,
    BM25,
    DENSE,
    FUSION,
    NAMED,
    Model,
    Screen,
    begun,
    compared,
    described,
    modelled,
    over,
    session_of,
    with_the_model,
)
from tests.standin_chat import Received, refusal

HOSTILE = "![x](http://203.0.113.9/a) <img src=x> :red-badge[0.99 strong] [y](http://203.0.113.9/b)"


def test_an_empty_screen_offers_an_example_and_papers_of_the_address_are_chosen(screen: Screen) -> None:
    test = screen("compare")
    assert "Choose 2 to 30 papers first" in texts(test)
    assert test.button(key="compare").disabled
    assert test.selectbox(key="compare_order").value == ComparisonOptions().order == "given"
    test.button(key="compare_example").click().run()
    assert len(session_of(test).papers) >= 3
    assert session_of(test).about == test.text_area(key=f"about_{session_of(test).opened}").value != ""
    assert "No model is asked" in texts(test)
    test = screen("compare", papers=f"{BM25},' OR 1=1 --,{DENSE},{BM25},../../etc/passwd")
    assert session_of(test).papers == (BM25, DENSE)
    assert "Say what your own work is about" in texts(test)
    assert not test.button(key="compare").disabled
    described(test)
    test.switch_page("explorer/pages/about.py").run()
    test.switch_page("explorer/pages/compare.py").run()
    assert test.text_area(key=f"about_{session_of(test).opened}").value == ABOUT
    assert session_of(test).papers == (BM25, DENSE), "what is written is gone after another screen"


def test_papers_are_chosen_by_search_by_address_and_from_their_own_screen(screen: Screen) -> None:
    test = screen("compare")
    test.text_input(key="compare_search_0").set_value("late interaction").run()
    test.button(key="add_1").click().run()
    assert "Choose at least one more paper" in texts(test)
    test.button(key="add_1").click().run()
    first, second = session_of(test).papers
    assert first != second
    test.button(key="remove_1").click().run()
    assert session_of(test).papers == (second,)
    test.button(key="compare_clear").click().run()
    assert session_of(test).papers == ()
    test = screen("paper", id=BM25)
    test.button(key="add_to_comparison").click().run()
    assert not test.exception
    assert session_of(test).papers == (BM25,)
    assert not [button for button in test.button if button.key == "add_to_comparison"]


def test_a_selection_of_the_collection_is_compared(screen: Screen) -> None:
    test = screen("collection")
    test.checkbox[0].check().run()
    assert not [button for button in test.button if button.key == "compare_these"]
    test.checkbox[1].check().run()
    test.button(key="compare_these").click().run()
    assert not test.exception
    assert len(session_of(test).papers) == 2
    test.switch_page("explorer/pages/collection.py").run()
    test.checkbox[2].check().run()
    test.switch_page("explorer/pages/compare.py").run()
    test.button(key="add_picked").click().run()
    assert len(session_of(test).papers) == 3


def test_the_plan_says_what_a_model_will_take(screen: Screen, writer: Model) -> None:
    writer()
    test = screen("compare", **NAMED)
    assert not test.number_input
    with_the_model(test)
    assert "model calls" in texts(test) and "tokens sent" in texts(test)
    assert {"compare_samples", "compare_votes", "compare_keep"} <= {field.key for field in test.number_input}


def test_a_comparison_without_a_model_ends_checked_and_stored(screen: Screen, library: Library) -> None:
    test = begun(described(screen("compare", papers=f"{BM25},{DENSE},{FUSION}")))
    comparison = compared(test)
    assert set(comparison.answer.cited_labels) <= {1, 2, 3} and comparison.answer.sentences
    assert "#cite-1-1" in texts(test) and "References" in texts(test)
    assert comparison.rounds == ()
    assert "in one pass without a model" in texts(test)
    assert test.segmented_control(key="comparison_part").options == ["Key elements", "Differences"]
    stored = library.comparisons().get(session_of(test).identifier)
    assert stored is not None and stored.comparison == comparison
    second = screen("compare", comparison=stored.id)
    assert session_of(second).comparison == comparison
    assert "#cite-1-1" in texts(second)


def test_a_cell_of_the_grid_shows_its_text_and_what_carries_it(screen: Screen, writer: Model) -> None:
    writer(ComparingModel(elements=lambda _: elements_reply(results="BM25 ranks by weighted words.")))
    test = over(modelled(screen))
    compared(test)
    test.session_state["comparison"].update(ComparisonSession.choose_cell, (1, "results"))
    test.run()
    assert not test.exception
    assert "**Results** · \\[1\\]" in texts(test)
    assert "BM25 ranks by weighted words." in [text.value for text in test.text]


def test_own_questions_become_columns_whose_cells_lead_to_the_page(screen: Screen) -> None:
    typed = f"What batch size was used for training?\n\n{HOSTILE}\n"
    test = described(screen("compare", **NAMED))
    test.text_area(key=f"questions_{session_of(test).opened}").set_value(typed).run()
    comparison = compared(begun(test))
    batch, hostile = comparison.columns
    assert [bool(cell.quotes) for cell in batch.cells] == [False, True]
    found = 1 + sum(bool(cell.quotes) for cell in hostile.cells)
    assert f"{found} of 4 answers to your own questions found" in texts(test)
    for cell in ((2, "question_1"), (1, "question_2"), (1, "question_5")):
        test.session_state["comparison"].update(ComparisonSession.choose_cell, cell)
        test.run()
        assert not test.exception
        drawn = "\n".join(str(element.value) for element in (*test.markdown, *test.caption))
        assert not re.search(r"(?<!\\)!\[|(?<!\\)<img|:red-badge|\]\(http", drawn)
        if cell[1] == "question_1":
            assert "**What batch size was used for training?** · [2]" in _plain(texts(test))
            assert any("batch size of 128" in text.value for text in test.text)
    test.button(key="compare_again").click().run()
    kept = test.text_area(key=f"questions_{session_of(test).opened}").value
    assert kept.splitlines() == [line for line in typed.splitlines() if line]


def test_too_many_questions_are_told_before_anything_is_compared(screen: Screen) -> None:
    test = described(screen("compare", **NAMED))
    typed = "\n".join(f"Is {number} used?" for number in range(6))
    test.text_area(key=f"questions_{session_of(test).opened}").set_value(typed).run()
    assert "6 questions of your own were given; a comparison takes 5" in _plain(texts(test))
    begun(test)
    assert session_of(test).state == "choosing"


def test_citations_differences_tree_and_calls_are_shown(screen: Screen, writer: Model) -> None:
    writer()
    test = over(modelled(screen))
    comparison = compared(test)
    label = comparison.answer.cited_labels[0]
    test.button(key=f"cite_1_{label}").click().run()
    assert f"Evidence for \\[{label}\\]" in texts(test)
    test.button(key="side_next").click().run()
    assert session_of(test).focus == 2
    test.segmented_control(key="comparison_part").set_value("Differences").run()
    assert "Who states what" in texts(test)
    test.segmented_control(key="comparison_part").set_value("How it was written").run()
    assert "It relates the references to each other." in texts(test)
    test.selectbox(key="round_shown").set_value(1).run()
    assert "**Round 1**" in texts(test)
    test.button(key="comparison_calls").click().run()
    assert test.selectbox(key="call_shown").options[0] == call_title(1, comparison.calls[0])
    assert "Sent as system" in texts(test)
    assert not test.exception


def test_a_running_comparison_is_found_by_its_address_and_ends_once(screen: Screen, writer: Model) -> None:
    writer(ComparingModel(seconds=0.5))
    first = modelled(screen)
    assert session_of(first).state == "running"
    second = screen("compare", comparison=session_of(first).identifier)
    assert session_of(second).state == "running"
    assert compared(second) == compared(first)


def test_a_stopped_comparison_goes_on(screen: Screen, writer: Model, library: Library) -> None:
    server = writer(ComparingModel(seconds=0.1))
    test = modelled(screen)
    while not library.comparisons().calls(session_of(test).identifier):
        time.sleep(0.02)
    test.button(key="stop_comparison").click().run()
    over(test)
    assert session_of(test).state == "unfinished"
    assert "Stopped. What is done of it is kept." in _plain(texts(test))
    recorded = len(library.comparisons().calls(session_of(test).identifier))
    # A visit that knows nothing of it, as after a restart.
    later = screen("compare", comparison=session_of(test).identifier)
    # A call that was under way when it was stopped is paid for, so it is stored when its reply comes.
    by_now = len(library.comparisons().calls(session_of(test).identifier))
    assert any(f"{number} call" in texts(later) for number in range(recorded, by_now + 1))
    later.button(key="go_on").click().run()
    made = compared(later)
    assert len(made.calls) == len({call.work for call in made.calls})
    assert session_of(later).identifier == session_of(test).identifier
    assert len(server.requests) < 2 * len(made.calls)


def test_a_failed_comparison_says_why_and_goes_on(screen: Screen, writer: Model) -> None:
    is_down = [True]

    def behave(request: Received) -> object:
        return refusal(401, "no such key") if is_down[0] else ComparingModel()(request)

    writer(behave)
    test = over(modelled(screen))
    assert session_of(test).state == "unfinished" and session_of(test).failure in _plain(texts(test))
    is_down[0] = False
    test.button(key="go_on").click().run()
    assert compared(test).answer.text


def _plain(shown: str) -> str:
    return shown.replace("\\", "").replace("\u2060", "")


def test_unfinished_comparisons_are_changed(screen: Screen, writer: Model, library: Library) -> None:
    writer(lambda _: refusal(401, "no such key"))
    test = over(modelled(screen))
    identifier = session_of(test).identifier
    test.button(key="change_comparison").click().run()
    assert (session_of(test).state, session_of(test).papers, session_of(test).about) == (
        "choosing", (BM25, DENSE), ABOUT,
    )  # fmt: skip
    assert test.number_input(key="compare_votes").value == 2
    test.button(key=f"open_{identifier}").click().run()
    test.button(key="delete_stopped").click().run()
    test.button(key="delete_surely_stopped").click().run()
    assert not test.exception
    assert library.comparisons().get(identifier) is None


@pytest.mark.parametrize("refused", ["", "I am sorry, I cannot help with that."])
def test_a_model_without_a_summary_is_asked_anew(screen: Screen, writer: Model, refused: str) -> None:
    model = ComparingModel(summaries=lambda _labels, _number: refused)
    writer(model)
    test = over(modelled(screen))
    assert "nothing usable was written" in _plain(texts(test))
    model.summaries = None
    test.button(key="go_on").click().run()
    assert compared(test).answer.text


def test_hostile_text_acts_nowhere_on_the_screen(screen: Screen, writer: Model) -> None:
    writer(
        ComparingModel(
            summaries=lambda labels, _: f"{HOSTILE} {' '.join(f'It ranks [{label}].' for label in labels)}",
            choices=lambda _: vote_reply_text(1, HOSTILE),
            elements=lambda _: elements_reply(results=HOSTILE),
        )
    )
    test = begun(with_the_model(described(screen("compare", **NAMED), f"{ABOUT} {HOSTILE}")))
    compared(test)
    for part in ("Key elements", "Differences", "How it was written"):
        test.segmented_control(key="comparison_part").set_value(part).run()
        drawn = "\n".join(str(element.value) for element in (*test.markdown, *test.caption, *test.title))
        labels = "\n".join(str(element.label) for element in (*test.button, *test.expander))
        assert not test.exception
        assert not re.search(r"(?<!\\)!\[|(?<!\\)<|:red-badge|\]\(http", f"{drawn}\n{labels}")


def test_a_comparison_is_renamed_listed_and_deleted(screen: Screen, writer: Model, library: Library) -> None:
    writer()
    test = modelled(screen)
    compared(test)
    identifier = session_of(test).identifier
    open_menu(test, "comparison_more")
    test.text_input(key=f"new_comparison_title_{session_of(test).opened}").set_value("Mine :red[x]")
    test.button(key="rename_comparison").click().run()
    stored = library.comparisons().get(identifier)
    assert stored is not None and stored.title == "Mine :red[x]"
    assert ":red[" not in texts(test)
    test.button(key="new_comparison").click().run()
    assert session_of(test).state == "choosing"
    test.button(key=f"open_{identifier}").click().run()
    assert session_of(test).state == "finished"
    test.button(key="delete_drawer").click().run()
    test.button(key="delete_surely_drawer").click().run()
    assert library.comparisons().get(identifier) is None
    assert session_of(test).papers == (BM25, DENSE)


@pytest.mark.parametrize("address", ["AAAAAAAAAAAAAAAAAAAAAA", "' OR 1=1 --", "x" * 5000, "\u0000", "../.."])
def test_an_address_of_no_comparison_says_so_and_offers_a_new_one(screen: Screen, address: str) -> None:
    test = screen("compare", comparison=address)
    assert "No comparison is at this address" in texts(test)
    test.button(key="begin_new").click().run()
    assert not test.exception
    assert session_of(test).state == "choosing"


def test_what_cannot_be_stored_is_compared_all_the_same(
    screen: Screen, writer: Model, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    writer()
    monkeypatch.setenv("PAPER_TRAIL_CONVERSATIONS", f"sqlite:///{tmp_path / 'nowhere' / 'x.sqlite'}")
    (tmp_path / "nowhere").write_text("no folder")
    test = modelled(screen)
    assert compared(test).answer.sentences
    assert "reload would lose it" in texts(test)


def test_comparisons_are_exported(screen: Screen, writer: Model, library: Library, tmp_path: Path) -> None:
    writer()
    comparison = compared(modelled(screen))
    hostile = replace(comparison, about=f"{ABOUT} {HOSTILE}")
    for export in COMPARISON_FORMATS:
        assert export.write(comparison) and export.write(hostile)
    files = {export.name: export.write(hostile) for export in COMPARISON_FORMATS}
    cited = re.findall(r"\\cite\{([^}]+)\}", files["tex_table"])
    assert len(cited) == 2 and all(f"{{{key}," in files["bib"] for key in cited)
    store = ComparisonStore(tmp_path / "other.sqlite")
    assert store.put("someone", hostile).comparison is not None
    store.close()
    visitor, session = Current(VisitorSession()), Current(ComparisonSession())
    import_comparison(library, visitor, session, comparison_to_json(comparison).encode())
    assert (
        session.now.comparison == replace(comparison, id=session.now.identifier)
        and session.now.identifier != comparison.id
    )
    assert [comparison.id for comparison in library.comparisons().list(visitor.now.stranger)] == [
        session.now.identifier
    ]


@pytest.mark.parametrize("data", [b"", b"no json", b"\xff\xfe", b'{"format": "other"}', b"[" * 100_000])
def test_a_file_that_is_no_comparison_is_refused_in_words(library: Library, data: bytes) -> None:
    session = Current(ComparisonSession())
    import_comparison(library, Current(VisitorSession()), session, data)
    assert session.now.import_problem.startswith("The file is not") and session.now.state == "choosing"


def test_a_forged_comparison_is_not_taken(screen: Screen, writer: Model, library: Library) -> None:
    writer()
    comparison = compared(over(modelled(screen)))
    paper = comparison.evidence.papers[0]
    forged = (
        replace(comparison, answer=replace(comparison.answer, citation_recall=inf)),
        replace(comparison, evidence=Evidence((replace(paper, paper=replace(paper.paper, year=10**30)),))),
    )
    for file in forged:
        session = Current(ComparisonSession())
        import_comparison(library, Current(VisitorSession()), session, comparison_to_json(file).encode())
        assert "a number that there cannot be" in session.now.import_problem
        with pytest.raises(AssistantError, match="damaged"):
            library.comparisons().put("someone", file)
        assert not library.comparisons().list("someone")
    session = Current(ComparisonSession())
    long = replace(comparison, answer=replace(comparison.answer, text="x" * 300_000))
    import_comparison(library, Current(VisitorSession()), session, comparison_to_json(long).encode())
    assert "at most 60,000 are read" in session.now.import_problem
    stored = library.comparisons().put(
        "someone", replace(comparison, remarks=("[2] is known by its title.",))
    )
    shown = _plain(texts(screen("compare", comparison=stored.id)))
    assert -1 < shown.index("[2] is known by its title.") < shown.index(comparison.answer.text[:20])


def test_references_are_listed_by_their_labels(screen: Screen, writer: Model) -> None:
    writer(
        ComparingModel(summaries=lambda labels, _: " ".join(f"It ranks [{label}]." for label in labels[::-1]))
    )
    test = modelled(screen)
    assert compared(test).answer.cited_labels == (2, 1)
    assert [button.key for button in test.button if str(button.key).startswith("cite_1_")] == [
        "cite_1_1",
        "cite_1_2",
    ]
