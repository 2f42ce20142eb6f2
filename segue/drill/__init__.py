"""`segue drill`: what is promised of failures, played on a cluster of its own and measured."""
