"""Libraries of one's own: kept, grown, shared, taken away and deleted with everything of them."""
