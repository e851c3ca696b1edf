"""The Collection screen: papers found by words, filters and place on a map, and taken along."""
