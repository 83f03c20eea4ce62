"""What is particular to Service Bus: its messages, its client, and how it is told of outcomes."""
