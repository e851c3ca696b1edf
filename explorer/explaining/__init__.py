"""The parts of the About screen, which explain what is here and what it means."""
