"""Facts and rules in, verdicts out; pure."""
