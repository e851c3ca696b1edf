"""Work in threads of its own, which screens look at."""
