"""The theme, which Streamlit sends at every rerun, computed once."""

from functools import cache

from streamlit.proto.NewSession_pb2 import CustomThemeConfig
from streamlit.runtime import app_session

_populate_theme = app_session._populate_theme_msg


def remember_theme() -> None:
    """Patch Streamlit to cache its theme instead of computing it at every rerun.

    It searches all settings for each of six sections, a tenth of the time of a small screen. The settings do
    not change while a server runs.
    """

    @cache
    def theme_of(section: str) -> CustomThemeConfig:
        theme = CustomThemeConfig()
        _populate_theme(theme, section)
        return theme

    def populate(msg: CustomThemeConfig, section: str = "theme") -> None:
        # Merging even an empty message would mark this section as set.
        if (theme := theme_of(section)).ByteSize():
            msg.MergeFrom(theme)

    app_session._populate_theme_msg = populate
