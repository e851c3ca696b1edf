"""Writers: one file per `Generator`."""
