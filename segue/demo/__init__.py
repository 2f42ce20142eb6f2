"""The demo: real listening, replayed by real clients against a real cluster, and checked by an independent oracle."""
