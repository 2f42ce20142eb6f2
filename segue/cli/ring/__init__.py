"""`segue ring`: the ring of each site, and how it is changed."""
