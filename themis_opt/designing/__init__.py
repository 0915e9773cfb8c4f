"""Design questions: which chunks for which size, which bandwidth where, when the optimum pays."""
