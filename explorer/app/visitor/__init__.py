"""What a visitor sees, as frozen values, a concern in each file. No Streamlit."""
