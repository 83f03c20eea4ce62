"""The SQL of rules: conditions that choose messages, actions that change them."""
