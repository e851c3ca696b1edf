"""The bare address, which leads to the Collection screen."""

import streamlit as st

from explorer.app.navigation import COLLECTION

st.switch_page(COLLECTION.page, query_params=st.query_params.to_dict())
