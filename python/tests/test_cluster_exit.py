"""A program that ends with its cluster object open: the cluster is stopped."""

from __future__ import annotations

import os
import subprocess
import sys

from stand_in import TOKEN, StandIn
from support import eventually


def test_the_exit_of_a_program_stops_its_open_cluster(api: StandIn) -> None:
    program = "import ropewalk; cluster = ropewalk.Cluster(n_workers=1); print('made', cluster.number)"
    env = {**os.environ, "ROPEWALK_API_URL": api.url, "ROPEWALK_TOKEN": TOKEN}
    ended = subprocess.run([sys.executable, "-c", program], env=env, capture_output=True, text=True, timeout=60)
    assert (ended.returncode, ended.stdout) == (0, "made 1\n"), ended.stderr
    assert "Created cluster 1" in ended.stderr and "Traceback" not in ended.stderr
    assert len(api.sent("/stop")) == 1


def test_ctrl_c_during_the_start_stops_the_cluster(api: StandIn) -> None:
    api.reads_before_ready = 10_000
    program = "import ropewalk; ropewalk.Cluster(n_workers=1)"
    env = {**os.environ, "ROPEWALK_API_URL": api.url, "ROPEWALK_TOKEN": TOKEN}
    with subprocess.Popen([sys.executable, "-c", program], env=env, stderr=subprocess.PIPE, text=True) as running:
        try:
            eventually(lambda: api.views and api.views[1]["reads"] > 1, within_s=30)
            running.send_signal(2)
            _, printed = running.communicate(timeout=30)
        finally:
            running.kill()
    assert "KeyboardInterrupt" in printed and running.returncode != 0
    assert len(api.sent("/stop")) == 1
