"""Verdicts as sets of channels."""

from rule_engine.verdict import CHANNELS, Verdict, Way


def told(verdict: Verdict) -> set[str]:
    """Returns the channels that a verdict uses, now or later."""
    used = (verdict.engine, verdict.in_client, verdict.push is not Way.NO, verdict.email is not Way.NO, verdict.webhook is not Way.NO)
    return {channel for channel, yes in zip(CHANNELS, used, strict=True) if yes}
