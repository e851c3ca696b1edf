"""The screen at /paper."""

import streamlit as st

from explorer.app.resources import open_library
from explorer.app.session import current_visitor
from explorer.paper.screen import render_paper
from explorer.uploads.visit import library_of_paper

visitor = current_visitor()
render_paper(library_of_paper(open_library(), visitor, st.query_params.get("id", "")), visitor)
