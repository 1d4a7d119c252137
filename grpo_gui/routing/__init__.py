"""The router at work: the models that it asks, the answers under way, its network in a thread, all kept in the log."""
