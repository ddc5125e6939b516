"""What shows that labels hold: faults put in, pages rendered again, people's reviews."""
