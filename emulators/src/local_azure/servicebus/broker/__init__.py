"""What the service does with messages: queues, sessions, topics, rules. No socket, no clock."""
