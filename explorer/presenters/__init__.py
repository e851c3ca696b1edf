"""Decisions of what to show, without Streamlit."""
