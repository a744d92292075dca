// The main loop of a Dask cluster's instance: prepares it, starts the scheduler or a worker, reports its state, and carries out
// orders. It never decides that a cluster has ended, nor restarts a process: it reports a process's end, and the control plane
// ends or replaces the instance.
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';

import { jsonBy } from '../api-client/client.ts';
import { daskBundle } from '../../schema/agent.ts';
import { untilAborted } from '../async/aborted.ts';
import { asFailure, orFail } from './failure.ts';
import type { DaskLife } from './context.ts';
import { type OnStage, stageText } from '../runtimes/environment/stages.ts';
import { runScheduler } from './scheduler/scheduler.ts';
import { setUp } from './setup.ts';
import { runWorker } from './worker.ts';
import { runProcess } from './run-process.ts';
import { aliveWithin } from '../lifecycle/watchdog.ts';
import { runHostSetup } from '../lifecycle/host-setup.ts';
import { blockMetadata } from '../lifecycle/metadata-block.ts';
import { hostRuntime } from '../runtimes/host/runtime.ts';
import { daskBase } from '../runtimes/inherited-variables.ts';
import { recordGroup } from '../processes/group-record.ts';
import { freshPath } from '../processes/hand-over.ts';
import type { AgentInput } from '../lifecycle/input.ts';
import { createOrderSubscription } from './order-subscription.ts';
import type { Session } from '../api-client/session.ts';
import { watchGpus } from '../gpus/watch.ts';
import { createReports } from '../api-client/reports.ts';
import { workerName } from './worker-name.ts';

/** Between TERM and KILL. The provider waits 3 s for an agent, so this must be less. */
const killAfterMs = 2_000;

export async function runWork(input: AgentInput, session: Session): Promise<void> {
  const bundle = await session.call({
    method: 'GET',
    path: '/v1/agent/bundle',
    read: jsonBy((json) => daskBundle.parse(json)),
  });
  if (bundle === null) return;
  const orders = createOrderSubscription({ session, stopping: input.stopping });
  const aliveEveryMs = aliveWithin(bundle.aliveEveryMs, session.registered().watchdogTimeoutMs);
  const reports = createReports({ ...input, session, aliveEveryMs, onOrders: orders.take });
  const output = input.logs.process();
  // The control plane decides about retirement, and orders it from the head instance's agent.
  input.watchNotices?.((notice) => {
    input.log.write(`The cloud has given notice: ${notice.kind} at ${notice.at}.`);
    reports.notice(notice);
  });
  const { cluster, role } = session.registered();
  const name = role === 'head' ? 'scheduler' : workerName(cluster.name, input.instance);
  const work = join(input.directory, 'work');
  await mkdir(work, { recursive: true, mode: 0o700 });
  const { signal } = input.stopping;
  let isRecorded = false;
  const life: DaskLife = {
    input,
    session,
    bundle,
    orders,
    reports,
    name,
    work,
    notify: (state, stage, { address = null, reason = null } = {}) =>
      reports.process({ state, name, stage, address, reason }),
    place: ({ runtime, tls }) => ({
      instance: input.instance,
      runtime,
      directory: freshPath(work, role === 'head' ? 'scheduler' : 'worker'),
      host: input.boot.address,
      // The scheduler learns a worker's port from the worker; ingress rules open the scheduler's port, which must be known
      // before.
      port: role === 'head' ? bundle.schedulerPort : 0,
      tls,
      base: daskBase(input.environment),
      env: bundle.env,
    }),
    start: ({ runtime }, command, onLine) =>
      runProcess(command, {
        ...{ runtime, user: input.user, pipeDirectory: input.directory },
        onLines: (stream, lines) => {
          output.append(stream, lines);
          if (onLine !== undefined) for (const line of lines) onLine(line);
        },
        started: (pid) => {
          // Records the instance's main process; the extra worker is found by its environment.
          if (!isRecorded) recordGroup(input.directory, pid);
          isRecorded = true;
        },
      }),
    end: (running) => running.end(killAfterMs),
    untilEnded: (running) => Promise.race([running.ended, untilAborted(signal).then(() => null)]),
  };
  const { gpuIdleAfterMs: idleAfterMs } = bundle;
  if (idleAfterMs !== null) void watchGpus({ ...input, idleAfterMs, signal, notify: reports.gpus });
  await Promise.all([orders.run(), reports.run(), live(life, role).finally(() => output.close())]);
}

async function live(life: DaskLife, role: 'head' | 'worker'): Promise<void> {
  const { input, session, bundle, work, notify } = life;
  const { signal } = input.stopping;
  const run = role === 'head' ? runScheduler : runWorker;
  try {
    const isAllowed = session.registered().instanceCredentials;
    const closeMetadata = (): Promise<void> => orFail('METADATA_OPEN', blockMetadata({ ...input, isAllowed }));
    await closeMetadata();
    if (bundle.hostSetupScript !== null) {
      notify('pending', 'host setup script');
      const variables = hostRuntime(null).variables(daskBase(input.environment), bundle.env);
      const setup = runHostSetup({ ...input, script: bundle.hostSetupScript, variables });
      await orFail('HOST_SETUP_FAILED', setup);
      // The script runs as root and may have changed the packet filter's rules, or the users of containers.
      await closeMetadata();
    }
    notify('pending', 'environment');
    const onStage: OnStage = (stage, builder) => {
      // A cached environment is ready before a reader could see the stage.
      if (stage !== 'ready') notify('pending', `environment: ${stageText(stage, builder)}`);
    };
    await run(
      life,
      await setUp({ ...input, session, role, work, runtime: bundle.runtime, onStage, note: life.reports.note }),
    );
  } catch (error) {
    if (signal.aborted) return;
    const { code, message } = asFailure(role === 'head' ? 'SCHEDULER_FAILED' : 'WORKER_FAILED', error);
    input.log.write(`${life.name}: ${message} (${code})`);
    notify('error', 'ended', { reason: { code, text: message } });
  }
  await untilAborted(signal);
}
