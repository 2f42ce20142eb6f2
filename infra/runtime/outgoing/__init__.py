"""Calls that we make over HTTP to addresses that others have named: where they may go, and how little of an answer they believe."""
