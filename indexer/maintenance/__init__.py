"""Whether all is well, and making room: doctor, verify, compact."""
