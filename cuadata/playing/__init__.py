"""Many attempts: rollouts, checks of environments, plans, curricula."""
