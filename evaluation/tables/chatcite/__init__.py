"""ChatCite's tables (arXiv 2403.02574, section 4): the main results and the ablations."""
