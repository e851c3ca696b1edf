"""Torture tests of the product: faults at random moments and in random places, counted."""
