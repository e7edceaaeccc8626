"""HTTP requests to addresses that strangers have named: only public addresses are reached."""
