"""What the reproductions of all papers share: trials, plans, pages, figures, and the numbers that were published."""
