"""Tools for models that know none: explained, called and answered in text."""
