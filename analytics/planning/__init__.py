"""Whom to serve when capacity is short."""
