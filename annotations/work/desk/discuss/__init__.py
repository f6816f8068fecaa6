"""Discuss: comments beside the work, mentions, the inbox."""
