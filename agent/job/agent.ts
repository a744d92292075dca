// An instance of a job: runs tasks until the job releases it or the cloud interrupts it.
import { jsonBy } from '../api-client/client.ts';
import { aliveEveryMs } from '../../domain/liveness/limits.ts';
import { bundle as bundleSchema } from '../../schema/agent.ts';
import { packageFilesOf } from '../api-client/package-files.ts';
import { createSharedBuilds } from '../api-client/shared-builds.ts';
import { watchGpus } from '../gpus/watch.ts';
import { createReports, type Reports } from '../api-client/reports.ts';
import type { Session } from '../api-client/session.ts';
import { runHostSetup } from '../lifecycle/host-setup.ts';
import { blockMetadata } from '../lifecycle/metadata-block.ts';
import type { AgentInput } from '../lifecycle/input.ts';
import { aliveWithin } from '../lifecycle/watchdog.ts';
import { withoutUrlSecrets } from '../../domain/software/url-text.ts';
import { hostRuntime } from '../runtimes/host/runtime.ts';
import { taskBase } from '../runtimes/inherited-variables.ts';
import { prepareRuntime } from '../runtimes/prepare.ts';
import { exchangeLoop } from './exchange-loop.ts';
import { createLeave } from './interruption.ts';
import type { Leave } from './interruption.ts';
import { createWorkStopping, sidecarEnded } from './lost.ts';
import { createResults } from './results.ts';
import { startSidecars } from './sidecars.ts';
import { createTaskStarter } from './tasks.ts';

export async function runWork(input: AgentInput, session: Session): Promise<void> {
  const { stopping, log, watchNotices } = input;
  const { role, watchdogTimeoutMs } = session.registered();
  const reports = createReports({ ...input, session, aliveEveryMs: aliveWithin(aliveEveryMs, watchdogTimeoutMs) });
  const leave = createLeave();
  watchNotices?.((notice) => {
    log.write(`The cloud has given notice: ${notice.kind} at ${notice.at}.`);
    reports.notice(notice);
    if (notice.kind === 'terminate') leave.begin(notice);
  });
  const work = async (): Promise<void> => {
    const { stopping: workStopping, lost } = createWorkStopping(stopping);
    const left = await runTasks({ ...input, stopping: workStopping }, { session, reports }, role === 'head', leave);
    if (!stopping.signal.aborted) reports.leave(lost() ?? left);
  };
  await Promise.all([work(), reports.run()]);
}

interface Leaving {
  code: string;
  text: string;
}

const interrupted: Leaving = {
  code: 'INTERRUPTED',
  text: 'The cloud interrupts this instance, and it holds no work any more.',
};

/** Returns why the instance leaves, unless a stop order ended it. */
async function runTasks(
  input: AgentInput,
  { session, reports }: { session: Session; reports: Pick<Reports, 'gpus' | 'note'> },
  isHead: boolean,
  leave: Leave,
): Promise<Leaving> {
  const { directory, log, stopping } = input;
  const bundle = await session.call({
    method: 'GET',
    path: '/v1/agent/bundle',
    read: jsonBy((json) => bundleSchema.parse(json)),
  });
  if (bundle === null) return interrupted;
  const closeMetadata = (): Promise<Leaving | null> =>
    blockMetadata({ ...input, isAllowed: session.registered().instanceCredentials }).then(
      () => null,
      (error: unknown) => leaveBecause(log, 'METADATA_OPEN', error),
    );
  const open = await closeMetadata();
  if (open !== null) return open;
  const { gpuIdleAfterMs: idleAfterMs } = bundle;
  if (idleAfterMs !== null) void watchGpus({ ...input, idleAfterMs, signal: stopping.signal, notify: reports.gpus });
  // The script prepares the machine: it runs as the agent's own user, which is root on a dedicated machine.
  const variables = hostRuntime(null).variables(taskBase(input.environment), bundle.env);
  try {
    await runHostSetup({ ...input, script: bundle.hostSetupScript, variables });
  } catch (error) {
    if (stopping.signal.aborted) return interrupted;
    return leaveBecause(log, 'HOST_SETUP_FAILED', error);
  }
  // The script runs as root and may have changed the packet filter's rules, or the users of containers.
  const openAgain = bundle.hostSetupScript === null ? null : await closeMetadata();
  if (openAgain !== null) return openAgain;
  const shared = createSharedBuilds({ session, apiUrl: input.boot.apiUrl, note: reports.note });
  const prepare = { ...input, fetchPackageFile: packageFilesOf(session), shared };
  const runtime = await prepareRuntime(bundle.runtime, prepare).catch((error: unknown) =>
    leaveBecause(log, 'RUNTIME_FAILED', error),
  );
  if ('code' in runtime) return runtime;
  const sidecars = await startSidecars(isHead ? (bundle.sidecars ?? []) : [], input).catch((error: unknown) =>
    leaveBecause(log, 'SIDECAR_FAILED', error),
  );
  if ('code' in sidecars) return sidecars;
  try {
    void sidecars.ended.then((text) => stopping.abort({ code: sidecarEnded, text, failed: false }));
    const { start, cleaned } = createTaskStarter({ ...input, bundle, runtime, session });
    const results = createResults(directory);
    const unfit = await exchangeLoop({ session, start, results, log, stopping, isHead, leave });
    await cleaned();
    return unfit ?? interrupted;
  } finally {
    await sidecars.stop();
  }
}

function leaveBecause(
  log: Pick<AgentInput['log'], 'write'>,
  code: 'HOST_SETUP_FAILED' | 'METADATA_OPEN' | 'RUNTIME_FAILED' | 'SIDECAR_FAILED',
  error: unknown,
): Leaving {
  const why = withoutUrlSecrets(error instanceof Error ? error.message : String(error));
  const text = (code === 'RUNTIME_FAILED' ? `The job's runtime is unavailable: ${why}` : why).slice(0, 1000);
  log.write(text);
  return { code, text };
}
