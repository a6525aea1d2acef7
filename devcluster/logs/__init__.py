"""What the containers of simulated pods have written. Nothing is kept: each line is worked out anew."""
