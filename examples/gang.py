# ROPEWALK ntasks 3
# ROPEWALK max-workers 2
# ROPEWALK task-on-scheduler
# ROPEWALK wait-for-ready-cluster
"""Tasks that run at the same time and talk to each other: each sends its number to task 0, and gets the sum of all.

Task 0 runs on the head instance, whose address every task knows; no task starts before all instances are ready. torchrun, MPI and
other launchers need the same three values: how many there are, which one this is, and where number 0 is.
"""

import os
import socket
import time

rank = int(os.environ["ROPEWALK_BATCH_TASK_ID"])
count = int(os.environ["ROPEWALK_BATCH_TASK_COUNT"])
address = (os.environ["ROPEWALK_BATCH_SCHEDULER_ADDRESS"], int(os.environ.get("PORT", "29500")))


def reduce_all(number: int) -> int:
    """The sum of the numbers of all tasks."""
    with socket.create_server(("", address[1])) as server:
        others = [server.accept()[0] for _ in range(count - 1)]
        total = number + sum(int(other.makefile().readline()) for other in others)
        for other in others:
            other.sendall(b"%d\n" % total)
            other.close()
    return total


def send_to_first(number: int) -> int:
    """Task 0 may begin to listen a moment later."""
    for _ in range(300):
        try:
            connection = socket.create_connection(address, timeout=60)
            break
        except ConnectionRefusedError:
            time.sleep(0.1)
    else:
        raise SystemExit(f"task 0 does not listen at {address}")
    with connection:
        connection.sendall(b"%d\n" % number)
        return int(connection.makefile().readline())


total = (reduce_all if rank == 0 else send_to_first)(10**rank)
print(f"task {rank} of {count}: {total}")
