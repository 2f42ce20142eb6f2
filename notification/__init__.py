"""The persisted path: what must not be lost is stored, and found again on every device."""
