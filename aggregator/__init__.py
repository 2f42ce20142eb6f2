"""The aggregator: many subscriptions become one per topic; one event becomes one copy per access point."""
