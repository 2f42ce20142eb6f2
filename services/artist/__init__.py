"""Artist monitoring: about once a day, what is new in a catalogue becomes one notification for each item (SB-35, SB-36)."""
