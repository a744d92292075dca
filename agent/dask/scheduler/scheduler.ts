// The head instance of a Dask cluster: starts its scheduler, reports its state, and drains workers. A scheduler counts as
// started after its preload's hello message; without it the agent could neither see nor drain it.

import { untilAborted } from '../../async/aborted.ts';
import { DaskFailure, orFail } from '../failure.ts';
import type { DaskLife } from '../context.ts';
import type { Setup } from '../setup.ts';
import { writePreload } from './preload.ts';
import { schedulerProcess } from '../commands.ts';
import { createSchedulerLink } from './link.ts';
import type { SchedulerLink } from './link.ts';
import { createAdaptiveTarget } from './adaptive-target.ts';
import { byInstance, layoutOf } from './by-instance.ts';
import { createDrains } from './drains.ts';
import { keepExtraWorker } from './extra-worker.ts';
import { jupyterRoot } from '../../../schema/relay.ts';
import { createRelay } from '../../relay/relay.ts';
import { watchPulse } from './liveness-check.ts';
import { watchScheduler } from './reporter.ts';

/** The first start after an install may take seconds, on a busy machine many. */
const helloTimeoutMs = 60_000;

export async function runScheduler(life: DaskLife, setup: Setup): Promise<void> {
  const { input, reports, work, notify } = life;
  notify('starting', 'dask');
  const changed: { look: () => void } = { look: () => undefined };
  const link = await createSchedulerLink({
    ...{ parent: work, user: input.user },
    onTrouble: input.log.write,
    onChange: () => changed.look(),
  });
  const { cluster } = life.session.registered();
  const layout = layoutOf(life.bundle, cluster.name);
  const watch = watchScheduler(() => byInstance(link.state(), layout), reports);
  changed.look = watch.look;
  try {
    await runLinked(life, setup, link);
  } finally {
    watch.close();
    await link.close();
  }
}

async function runLinked(life: DaskLife, setup: Setup, link: SchedulerLink): Promise<void> {
  const { input, bundle, orders, reports, work, notify } = life;
  const { signal } = input.stopping;
  const { schedulerClass, schedulerOptions, workersPerInstance } = bundle;
  const command = schedulerProcess({
    ...life.place(setup),
    socketPath: link.socketPath,
    preloadPath: await writePreload(work, input.user),
    httpPort: 0,
    usage: bundle.usage,
    // The creator's own limit is kept.
    sharesMemory: bundle.shareMachine && bundle.workerOptions['memory_limit'] === undefined,
    jupyter: bundle.jupyterToken !== null,
    ...(schedulerClass === null ? {} : { schedulerClass }),
    ...(Object.keys(schedulerOptions).length === 0 ? {} : { schedulerOptions }),
  });
  const running = await life.start(setup, command);
  let stopPulse = (): void => undefined;
  let endExtra = (): Promise<void> => Promise.resolve();
  try {
    const greeted = running.orEnded(orFail('NO_HELLO', link.whenHello(helloTimeoutMs)));
    const hello = await Promise.race([orFail('SCHEDULER_FAILED', greeted), untilAborted(signal).then(() => null)]);
    if (hello === null) return;
    input.log.write(`The scheduler listens at ${hello.address} (distributed ${hello.distributed}).`);
    await startJupyter(life, link);
    notify('started', 'dask', { address: hello.address });
    if (bundle.extraWorkerOnScheduler) endExtra = keepExtraWorker(life, setup, hello.address);
    orders.follow(createDrains({ link, workersPerInstance, notify: reports.drained, log: input.log, signal }));
    orders.follow(createAdaptiveTarget(link, signal));
    void relayDashboard(life, hello.httpPort);
    stopPulse = watchPulse({ link, timeoutMs: bundle.unresponsiveTimeoutMs, notify: reports.unanswered });
    const end = await life.untilEnded(running);
    if (end !== null) throw new DaskFailure('PROCESS_EXITED', `The Dask scheduler ended: ${end.text}`);
  } finally {
    stopPulse();
    await Promise.all([endExtra(), life.end(running)]);
  }
}

/** Imports take half a minute on a busy machine. */
const jupyterTimeoutMs = 120_000;

/** A cluster requested with Jupyter does not start without it: the error names the missing package. */
async function startJupyter(
  { session, bundle: { jupyterToken: token } }: DaskLife,
  link: SchedulerLink,
): Promise<void> {
  if (token === null) return;
  const root = jupyterRoot(session.registered().cluster.number);
  const { missing } = await orFail('JUPYTER_FAILED', link.order('startJupyter', { root, token }, jupyterTimeoutMs));
  if (missing === undefined) return;
  const text = `The environment has no Jupyter server (${missing}): add jupyterlab to it, or start without jupyter.`;
  throw new DaskFailure('ENVIRONMENT_FAILED', text);
}

/** Users open the dashboard through the API. It listens on loopback, where no other machine can reach it. */
async function relayDashboard({ input, session }: DaskLife, port: number | null): Promise<void> {
  if (port === null) return;
  await createRelay({
    apiUrl: input.boot.apiUrl,
    cluster: session.registered().cluster.number,
    token: () => session.token(),
    target: () => ({ host: '127.0.0.1', port }),
    signal: input.stopping.signal,
    onTrouble: input.log.write,
  });
}
