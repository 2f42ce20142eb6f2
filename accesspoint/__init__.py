"""The access point: the WebSocket door for clients; sessions, topic maps, outboxes."""
