"""The `segue` command: one module a command, and what commands share."""
