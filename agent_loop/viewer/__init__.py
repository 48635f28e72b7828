"""What both web doors show of `runs/`: reads it, and writes nothing but the owner's reply.

Knows no model, no container and no process. Everything read is hostile: names are checked, links
are not followed, sizes are bounded, and text leaves as JSON or plain text, never as markup.
"""
