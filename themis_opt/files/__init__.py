"""Reading and writing files: strict, exact, and with errors that name the file, the key, the value and the mend."""
