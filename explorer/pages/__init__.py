"""The pages Streamlit runs: each draws one screen from its dependencies."""
