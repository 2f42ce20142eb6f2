"""The tables of a plan, and one page with the figures of the thesis drawn anew."""
