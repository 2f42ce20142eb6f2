"""Published data sets read as traces: who follows whom becomes subscriptions, what they did becomes publications.

Each module knows one published form: which columns it has, what they mean for publish/subscribe, and what they cannot tell.
"""
