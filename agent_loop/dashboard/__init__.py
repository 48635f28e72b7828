"""The dashboard: shows `runs/` in a browser and answers owner calls. Can run nothing."""
