"""The project's own benchmarks: `make bench`. `bench/README.md` explains what they print."""
