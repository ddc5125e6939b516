"""What must not reach the disk: fields for secrets, what they held, and the places that show it again."""
