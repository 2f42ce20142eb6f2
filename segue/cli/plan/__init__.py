"""`segue plan`: which subscribers to serve when capacity is short, and how much capacity to buy."""
