"""A Jupyter server in the process of the Dask scheduler, on the scheduler's HTTP port, which is on loopback. Users
reach it through the API, which adds the token. Dask's own `--jupyter` has no token, and opens a scheduler port
without TLS."""

import logging
import os
import signal
import time

logger = logging.getLogger("distributed.ropewalk")

#: Jupyter installs its own handlers for these signals, which would prevent a scheduler from ending.
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1)


def start_jupyter(scheduler, root, token):
    """`root` is its path for browsers: `/clusters/7/jupyter/`. Raises ImportError when the environment has no
    Jupyter."""
    directory = os.path.join(os.getcwd(), "jupyter")
    notebooks = os.path.join(directory, "notebooks")
    os.makedirs(notebooks, mode=0o700, exist_ok=True)
    # Isolated from the machine's own Jupyter: connection files hold keys, and configuration can be code.
    for name in ("CONFIG", "DATA", "RUNTIME"):
        os.environ[f"JUPYTER_{name}_DIR"] = os.path.join(directory, name.lower())
    # In notebooks, `Client()` becomes a client of this scheduler.
    os.environ["DASK_SCHEDULER_ADDRESS"] = scheduler.address
    from jupyter_server.serverapp import ServerApp
    from traitlets.config import Config

    config = Config(
        {
            "ServerApp": {
                "base_url": root,
                "root_dir": notebooks,
                "open_browser": False,
                # The API uses no host name that Jupyter could know; Jupyter requires the token in any case.
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
    """The time of Jupyter's last use, by the monotonic clock. Jupyter itself uses the wall clock."""

    def __init__(self):
        #: The server that this agent started; Dask's own is an attribute of the scheduler.
        self.app = None
        self.noted = None
        self.at = 0.0

    def server(self, scheduler):
        return self.app or getattr(scheduler, "_jupyter_server_application", None)

    def is_busy(self, scheduler):
        """Whether a kernel computes; it may print nothing for hours."""
        app = self.server(scheduler)
        if app is None:
            return False
        kernels = app.kernel_manager
        # Copies the list, because kernels start and stop meanwhile.
        return any(getattr(kernels.get_kernel(one), "execution_state", "") == "busy" for one in list(kernels.list_kernel_ids()))

    def of(self, scheduler):
        app = self.server(scheduler)
        if app is not None:
            noted = app.web_app.last_activity().timestamp()
            # Converted once per activity: repeated conversions would differ by a millisecond, and each would be
            # reported.
            if noted != self.noted:
                self.noted, self.at = noted, time.monotonic() - max(0.0, time.time() - noted)
        return self.at

    async def close(self):
        if self.app is not None:
            await self.app._cleanup()
