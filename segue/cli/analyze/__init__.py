"""`segue analyze`: traces made, checked, characterized and compared."""
