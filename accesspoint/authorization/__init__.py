"""Authorization at the door of clients: who may follow what, asked once at the time of the subscribe."""
