"""A Jupyter server in the process of the Dask scheduler, on the scheduler's HTTP port, which is on loopback. People reach it through
the API, which brings the token. Dask's own `--jupyter` has no token, and opens a port of the scheduler without TLS."""

import logging
import os
import signal
import time

logger = logging.getLogger("distributed.ropewalk")

#: Jupyter sets handlers of its own for these, which would keep a scheduler from ending.
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1)


def start_jupyter(scheduler, root, token):
    """`root` is the path under which browsers find it: `/clusters/7/jupyter/`. Raises ImportError when the environment has no Jupyter."""
    directory = os.path.join(os.getcwd(), "jupyter")
    notebooks = os.path.join(directory, "notebooks")
    os.makedirs(notebooks, mode=0o700, exist_ok=True)
    # Nothing of the machine's own Jupyter is read or written: connection files hold keys, and configuration can be code.
    for name in ("CONFIG", "DATA", "RUNTIME"):
        os.environ[f"JUPYTER_{name}_DIR"] = os.path.join(directory, name.lower())
    # For notebooks: `Client()` is a client of this scheduler.
    os.environ["DASK_SCHEDULER_ADDRESS"] = scheduler.address
    from jupyter_server.serverapp import ServerApp
    from traitlets.config import Config

    config = Config(
        {
            "ServerApp": {
                "base_url": root,
                "root_dir": notebooks,
                "open_browser": False,
                # The API names no host that Jupyter could know; the token is asked for in any case.
                "allow_remote_access": True,
                "quit_button": False,
            },
            "IdentityProvider": {"token": token},
        }
    )
    handlers = {number: signal.getsignal(number) for number in SIGNALS}
    try:
        app = ServerApp.instance(config=config)
        app.initialize(new_httpserver=False, argv=[])
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)
    scheduler.http_application.add_application(app.web_app)
    logger.info("Jupyter runs on the scheduler's instance.")
    return app


class JupyterActivity:
    """When Jupyter was last used, by the monotonic clock. Jupyter itself notes it by the wall clock."""

    def __init__(self):
        #: The server that this agent asked for; Dask's own is an attribute of the scheduler.
        self.app = None
        self.noted = None
        self.at = 0.0

    def server(self, scheduler):
        return self.app or getattr(scheduler, "_jupyter_server_application", None)

    def is_busy(self, scheduler):
        """Whether a kernel computes: it may print nothing for hours."""
        app = self.server(scheduler)
        if app is None:
            return False
        kernels = app.kernel_manager
        # A list of its own: kernels come and go.
        return any(getattr(kernels.get_kernel(one), "execution_state", "") == "busy" for one in list(kernels.list_kernel_ids()))

    def of(self, scheduler):
        app = self.server(scheduler)
        if app is not None:
            noted = app.web_app.last_activity().timestamp()
            # Once per activity: converted again and again it would differ by a millisecond, and be reported each time.
            if noted != self.noted:
                self.noted, self.at = noted, time.monotonic() - max(0.0, time.time() - noted)
        return self.at

    async def close(self):
        if self.app is not None:
            await self.app._cleanup()
