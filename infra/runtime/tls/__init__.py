"""TLS: certificates and contexts, handshakes at doors and links, and connections that speak it."""
