"""Jobs people have, composed of stages and joins; no loops over rows."""
