"""CPU and memory usage, gauges and charts."""
