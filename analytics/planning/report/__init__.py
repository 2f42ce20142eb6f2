"""What people see of a plan: tables, and one page with the figures of the thesis drawn anew."""
