"""Who is there when: traces of nodes that come and leave, read or made, and the same by cycle."""
