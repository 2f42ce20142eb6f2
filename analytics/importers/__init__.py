"""Published data sets read as traces: follows become subscriptions, and what users did becomes publications.

Each module knows one published form: which columns it has, what they mean for publish/subscribe, and what they cannot tell.
"""
