"""The studies, one file each. `registry.py` has them in the order of the page."""
