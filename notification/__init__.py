"""The persisted path: intake of what must not be lost, the rule worker, the stores, the feed with its marks, mail and push."""
