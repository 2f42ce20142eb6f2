"""`segue plan`: whom to serve when capacity is short, and how much of it to buy."""
