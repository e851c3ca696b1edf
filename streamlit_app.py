"""Paper Trail, started by `streamlit run streamlit_app.py`.

The server imports this file for `app`; Streamlit then runs it once per rerun of a screen, as `__main__`.
"""

import streamlit as st
from starlette.routing import Route

from explorer.api.door import ProgramsDoor
from explorer.app.base_path import BelowBasePath
from explorer.app.library_export import EXPORT_ROUTE, export_library
from explorer.app.login import check_sign_in
from explorer.app.navigation import draw, favicon
from explorer.app.security import middleware, show_script_error
from explorer.observing.logs import configure_logging
from explorer.operating.health import HealthDoor
from explorer.warm_up import lifespan

if __name__ == "__main__":
    draw()
else:
    configure_logging()
    check_sign_in()
    app = st.App(
        __file__,
        lifespan=lifespan,
        routes=[Route("/favicon.png", favicon), Route(EXPORT_ROUTE, export_library)],
        middleware=middleware(BelowBasePath, HealthDoor, ProgramsDoor),
        on_script_error=show_script_error,
    )
