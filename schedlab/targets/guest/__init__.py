"""Real kernels in QEMU: what they are booted from, and a running guest."""
