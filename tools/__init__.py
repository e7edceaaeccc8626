"""Programs beside the server: measurements, client generation, verification of a deployment."""
