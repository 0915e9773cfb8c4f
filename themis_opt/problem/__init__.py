"""The question and the answer: network, collective, instance, schedule, bound, and the units and errors they share."""
