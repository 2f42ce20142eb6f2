"""The presence service: it publishes what users do, and knows in memory what each did last and who is online (SB-29, SB-30)."""
