"""The address without a page: readers begin with the collection."""

import streamlit as st

from explorer.app.navigation import COLLECTION

st.switch_page(COLLECTION.page, query_params=st.query_params.to_dict())
