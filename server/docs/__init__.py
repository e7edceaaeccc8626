"""The documentation site, the page for people, and generated forms of the contract."""
