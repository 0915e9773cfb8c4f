"""Results for people: words, pictures and reports."""
