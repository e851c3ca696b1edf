"""The screen at /paper."""

import streamlit as st

from explorer.documents.visit import library_of_paper
from explorer.reader import current_reader
from explorer.reading.screen import render_paper
from explorer.resources import open_library

reader = current_reader()
render_paper(library_of_paper(open_library(), reader, st.query_params.get("id", "")), reader)
