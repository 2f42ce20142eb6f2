"""What notifications look like: their words, and the page of a mail. Pure."""
