"""What clients attach to: queues and topics, their management nodes, and `$cbs`."""
