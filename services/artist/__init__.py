"""Artist monitoring: about once a day each new item of a catalogue becomes one notification (SB-35, SB-36)."""
