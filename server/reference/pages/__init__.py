"""The templates of the reference: one for each kind of page, on `base.html`."""
