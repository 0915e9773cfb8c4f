"""An interactive report in one HTML file."""
