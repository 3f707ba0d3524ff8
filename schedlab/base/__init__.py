"""What every other package stands on: errors, data, checks of input, text."""
