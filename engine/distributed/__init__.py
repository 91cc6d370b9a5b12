"""One world over several accelerators: unified sequence parallelism with retained-prefix KV, and the processes that run it."""
