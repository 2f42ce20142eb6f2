"""Segue Radio, the example application, on the users of the demo: `segue demo --page`. The application itself is in `examples/radio`."""
