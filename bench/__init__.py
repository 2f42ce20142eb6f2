"""The project's own benchmarks: `make bench`. How to read what they print: `bench/README.md`."""
