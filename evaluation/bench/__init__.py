"""Speed of build, search, answers and screens."""
