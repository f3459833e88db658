"""Parlour side by side with other servers: `make bench`. Figures are ratios of one run, never a test."""
