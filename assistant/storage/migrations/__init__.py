"""The steps from the tables of one version to those of the next, taken by Alembic."""
