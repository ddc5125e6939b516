"""What the trainers of `train/` share."""
