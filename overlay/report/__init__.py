"""Figures and tables of the overlays, published beside ours."""
