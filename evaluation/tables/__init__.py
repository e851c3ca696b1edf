"""Measures the tables of the three papers and shows our figures beside the printed ones."""
