"""Social: who is whose friend, who of an address book joined, and wall posts for those who want them (SB-4, SB-5, SB-34)."""
