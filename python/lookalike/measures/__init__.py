"""Exact similarity, of one pair or of a batch of candidates, and what two texts share."""
