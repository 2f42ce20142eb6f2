"""`segue replay`: a trace, played again against a running engine, with a check that all of it arrives."""
