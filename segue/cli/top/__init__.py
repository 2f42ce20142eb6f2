"""`segue top`: connections, topics, rates, queues, memory and CPU of a running engine."""
