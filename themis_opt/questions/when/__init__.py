"""Over which message sizes the optimum pays."""
