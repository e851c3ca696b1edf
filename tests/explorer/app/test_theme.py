"""The theme that a browser is told is the one of the settings, put together once."""

from collections.abc import Iterator

import pytest
from streamlit import config
from streamlit.proto.NewSession_pb2 import CustomThemeConfig
from streamlit.runtime import app_session

from explorer.app.theme import remember_theme


@pytest.fixture
def told(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(app_session, "_populate_theme_msg", app_session._populate_theme_msg)
    settings = {
        "theme.font": "serif",
        "theme.baseFontSize": 17,
        "theme.headingFontSizes": ["2rem", "1.5rem"],
        "theme.light.primaryColor": "#1F4E79",
        "theme.dark.sidebar.textColor": "#ECE9E1",
    }
    was = {name: config.get_option(name) for name in settings}
    for name, value in settings.items():
        config.set_option(name, value)
    yield
    for name, value in was.items():
        config.set_option(name, value)


def theme() -> CustomThemeConfig:
    """Return the theme as Streamlit puts it together of its six parts."""
    whole = CustomThemeConfig()
    populate = app_session._populate_theme_msg
    populate(whole)
    for part, section in (
        (whole.light, "theme.light"),
        (whole.dark, "theme.dark"),
        (whole.sidebar, "theme.sidebar"),
        (whole.light.sidebar, "theme.light.sidebar"),
        (whole.dark.sidebar, "theme.dark.sidebar"),
    ):
        populate(part, section)
    return whole


def test_the_theme_of_the_settings_is_made_once(told: None, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    options = config.get_options_for_section

    def counted(section: str) -> dict[str, object]:
        asked.append(section)
        return options(section)

    monkeypatch.setattr(config, "get_options_for_section", counted)
    remember_theme()
    first = theme()
    assert [theme() for _ in range(2)] == [first] * 2
    assert len(asked) == 6
    assert (first.base_font_size, first.light.primary_color) == (17, "#1F4E79")
    assert list(first.heading_font_sizes) == ["2rem", "1.5rem"]
    assert first.dark.sidebar.text_color == "#ECE9E1"
    assert not first.HasField("sidebar")
