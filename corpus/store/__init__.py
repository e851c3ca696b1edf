"""The corpus on disk: tables, the manifest that names their versions, and what is kept beside them."""
