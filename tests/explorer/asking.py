"""Asking on a screen that is run without a browser, and reading what it shows."""

import re
import time

from streamlit.testing.v1 import AppTest

from explorer.app.resources import jobs
from explorer.app.visitor.session import VisitorSession

# A link to a page of ours in a text: what is escaped in its label ends nothing.
INLINE_LINK = re.compile(r"\[((?:\\.|[^\\\[\]])+)\]\(((?:paper|collection)\?[\w.%+=&-]+)\)")
QUESTION = "How do dense retrieval and BM25 compare, and where does each of them fail?"


def texts(test: AppTest) -> str:
    parts = [
        *test.title,
        *test.header,
        *test.subheader,
        *test.markdown,
        *test.caption,
        *test.text,
        *test.warning,
    ]
    return "\n".join(str(part.value) for part in parts)


def visitor_of(test: AppTest) -> VisitorSession:
    found = test.session_state["visitor"].now
    assert isinstance(found, VisitorSession)
    return found


def ask(test: AppTest, question: str) -> AppTest:
    test.chat_input(key="question_box").set_value(question).run()
    return finish(test)


def finish(test: AppTest) -> AppTest:
    """Run the screen again once the question on its way has been answered."""
    deadline = time.monotonic() + 180
    while job_id := visitor_of(test).job_id:
        job = jobs().get(job_id)
        while job and not job.view().is_over:
            assert time.monotonic() < deadline, "the answer did not come"
            time.sleep(0.02)
        test.run()
    assert not test.exception
    return test


def open_menu(test: AppTest, menu: str) -> AppTest:
    """Open a menu or a fold, in which nothing is drawn before."""
    test.session_state[menu] = True
    return test.run()


def take_in(test: AppTest, written: bytes) -> AppTest:
    """Import a file as JSON, in the left drawer."""
    field = open_menu(test, "import_menu").file_uploader(key="import_0")
    return field.upload("trail.json", written, "application/json").run()


def show_rest_of(test: AppTest, number: int) -> AppTest:
    """Open the sources of an earlier answer, and what can be done with it."""
    return open_menu(test, f"rest_{visitor_of(test).opened}_{number}")


def choose_the_model(test: AppTest) -> AppTest:
    """Have the stand-in model write."""
    return test.selectbox(key="writer").set_value("standin").run()


def links(test: AppTest) -> dict[str, str]:
    """Return where each link of a screen to another leads, by its label without the escapes."""
    drawn = [
        (link.proto.label, f"{link.proto.page}?{link.proto.query_string}") for link in test.get("page_link")
    ]
    inline = [found.groups() for block in test.markdown for found in INLINE_LINK.finditer(block.value)]
    return {label.replace("\\", "").replace("\u2060", ""): address for label, address in (*drawn, *inline)}
