"""The built-in language policy: decoder, tokenizer, generation, packed training."""
