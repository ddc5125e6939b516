"""Plain numbers: rates with intervals, paired tests, groups, votes."""
