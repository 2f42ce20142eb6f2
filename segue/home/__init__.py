"""The first page: what `segue up` serves at `/` on loopback, so that somebody sees in a minute what Segue does."""
