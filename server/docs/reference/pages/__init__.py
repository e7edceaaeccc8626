"""The templates of the reference: one for each kind of page, based on `base.html`."""
