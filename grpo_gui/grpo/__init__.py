"""The GRPO algorithm: tensors in, tensors out, no I/O."""
