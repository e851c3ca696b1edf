"""The screens where the database accepts connections and never answers."""

import pytest
from streamlit.testing.v1 import AppTest

from tests.demo_home import PROJECT
from tests.silent_server import (
    OPEN_SOCKETS,
    SAID,
    SHORT_SECONDS,
    no_word_of_sockets,  # noqa: F401 - a fixture of every test here
    silent_server,
    within,
)

pytestmark = OPEN_SOCKETS


@pytest.mark.usefixtures("home")
def test_fault_screens_took_minutes_where_the_database_never_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    with silent_server() as url:
        monkeypatch.setenv("PAPER_TRAIL_CONVERSATIONS", url)
        app = AppTest.from_file(str(PROJECT / "streamlit_app.py"), default_timeout=180)
        for page in ("ask", "compare", "collection", "reading"):
            app.switch_page(f"explorer/pages/{page}.py")
            with within(SHORT_SECONDS):
                app.run()
            assert not app.exception
            if page != "collection":  # which needs no database
                shown = " ".join(element.value for element in [*app.markdown, *app.caption])
                assert SAID in shown, page
                assert "Nothing yet" not in shown
