"""Files under a root: which are ignored, and reading them within bounds."""
