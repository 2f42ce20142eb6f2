"""Lives of pure cores, without servers, processes and wires."""
