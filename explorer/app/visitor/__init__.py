"""The state of a visitor, as frozen values, one concern per file. No Streamlit."""
