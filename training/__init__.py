"""Makes the learned parts; never imported by the product."""
