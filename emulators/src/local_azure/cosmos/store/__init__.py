"""What an account holds, and transactions on it. No socket, no clock."""
