"""The client SDK: what an application imports, by way of `segue`."""
