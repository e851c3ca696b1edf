"""The screens: Streamlit only here and in streamlit_app.py."""
