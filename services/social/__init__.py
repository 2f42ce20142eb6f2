"""The social service: who is whose friend, which contacts have joined, and wall posts for users who want them (SB-4, SB-5, SB-34)."""
