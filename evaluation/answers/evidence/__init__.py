"""Is the text that answers a question ranked first? Rows of candidates, and what ranks them."""
