"""The theme, which Streamlit tells every browser before every run of a screen, put together once."""

from functools import cache

from streamlit.proto.NewSession_pb2 import CustomThemeConfig
from streamlit.runtime import app_session

_put_together = app_session._populate_theme_msg


def remember_theme() -> None:
    """Keep Streamlit from putting its theme together before every run of a screen.

    It looks through all its settings for that, once for each of six parts: of a small screen a tenth of its
    processor time. The settings stay what they are while a server runs.
    """

    @cache
    def remembered(section: str) -> CustomThemeConfig:
        theme = CustomThemeConfig()
        _put_together(theme, section)
        return theme

    def populate(msg: CustomThemeConfig, section: str = "theme") -> None:
        # Even to merge nothing would say that this part of the theme is set.
        if (known := remembered(section)).ByteSize():
            msg.MergeFrom(known)

    app_session._populate_theme_msg = populate
