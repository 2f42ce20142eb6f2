"""Whom to serve when capacity is short (satisfaction), and how few machines suffice when it is bought (provisioning)."""
