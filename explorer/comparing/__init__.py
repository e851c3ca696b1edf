"""The Compare screen and what is behind it: papers chosen, compared in a worker, kept and read."""
