"""The map of a corpus: places, clusters and their labels; and fields of study made of clusters."""
