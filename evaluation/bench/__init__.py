"""Measures the speed of builds, search, answers and screens."""
