"""`segue admin`: who is here, who is sent away, who is kept out, and what everybody is told."""
