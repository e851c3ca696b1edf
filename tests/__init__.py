"""The tests. A package, because one that is installed brings a package of the same name."""
