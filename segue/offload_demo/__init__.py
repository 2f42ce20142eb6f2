"""`segue offload-demo`: what a capacity limit does to a running engine, as predicted and as counted."""
