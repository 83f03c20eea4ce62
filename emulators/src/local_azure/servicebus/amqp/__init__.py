"""AMQP 1.0 for servers: types, frames, connections, sessions and links; no Service Bus in it."""
