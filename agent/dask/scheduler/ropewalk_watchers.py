"""Cluster objects that watch the workers of this scheduler.

distributed registers each as a plugin of the same name, so that a second object, of a program that uses the cluster by its
name, would take the updates from the first. They get names of their own here, and also hear of changed memory limits.
"""

import itertools
import logging

logger = logging.getLogger("distributed.ropewalk")

HANDLER = "subscribe_worker_status"
NAME = "worker-status"


class Watchers:
    def __init__(self, scheduler):
        self.scheduler = scheduler
        self.numbers = itertools.count()
        self.subscribe_one = scheduler.handlers.get(HANDLER)
        if self.subscribe_one is not None:
            scheduler.handlers[HANDLER] = self.subscribe

    def subscribe(self, comm):
        answer = self.subscribe_one(comm)
        plugin = self.scheduler.plugins.pop(NAME, None)
        if plugin is not None:
            # It removes itself by this name when its connection has ended.
            plugin.name = f"{NAME}-{next(self.numbers)}"
            self.scheduler.plugins[plugin.name] = plugin
        return answer

    def changed(self, address):
        """Sends the worker as if it had joined: its old description is replaced."""
        for name, plugin in list(self.scheduler.plugins.items()):
            if not name.startswith(f"{NAME}-"):
                continue
            try:
                plugin.add_worker(self.scheduler, address)
            except Exception as error:
                # The worker is leaving, or this version describes workers otherwise: the limit itself is in force.
                logger.info("A cluster object still has the old memory limit of a worker: %s", error)
