"""Why a schedule takes as long as it does, and where a network has too much or too little bandwidth."""
