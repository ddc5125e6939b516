"""What gates stand on: claims, descriptions, conventions, verdicts."""
