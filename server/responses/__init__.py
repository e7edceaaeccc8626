"""From a result or an error to bytes."""
