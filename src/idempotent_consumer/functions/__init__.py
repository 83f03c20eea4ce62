"""The Azure Functions host: one invocation is one delivery."""
