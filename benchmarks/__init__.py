"""Benchmarks: cases with their right answers, peers as contestants, committed records (see README.md)."""
