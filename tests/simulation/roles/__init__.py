"""Lives of roles: production's brokers, aggregators and access points on a timeline, without servers, sockets and codec."""
