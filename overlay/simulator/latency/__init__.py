"""How long messages take: between real hosts, or drawn."""
