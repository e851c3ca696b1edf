"""The screen at /paper."""

import streamlit as st

from explorer.app import current_visitor, open_library
from explorer.paper import render_paper
from explorer.uploads import library_of_paper

visitor = current_visitor()
render_paper(library_of_paper(open_library(), visitor, st.query_params.get("id", "")), visitor)
