"""What the product has to stand: faults at random moments and in random places, counted."""
