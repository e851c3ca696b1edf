"""What writes: one file per `Generator`."""
