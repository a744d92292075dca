// A cluster on an emulated cloud without Temporal: the real rules decide, the real provider calls, the cloud keeps its ledger,
// and the cloud's clock is advanced at will. Agents are simulated: a test decides the fate of each new instance.
import { applyLaunch, applyReport, applyTerminated } from '../../domain/cluster/apply.ts';
import { applyInspection, suspectInstances } from '../../domain/cluster/instance/inspect.ts';
import { watchCapacity } from '../../domain/cluster/capacity/wait.ts';
import { createClusterState } from '../../domain/cluster/create.ts';
import type { MachineSettings } from '../../domain/cluster/capacity/machine-settings.ts';
import { intend, planCluster } from '../../domain/cluster/plan.ts';
import type { Decision, Plan } from '../../domain/cluster/plan.ts';
import { stopCluster } from '../../domain/cluster/requests.ts';
import type { ClusterInstance, ClusterState } from '../../domain/cluster/state.ts';
import type { Heard } from '../../domain/cluster/instance/suspicion.ts';
import { cloudRegisterTimeoutMs } from '../../domain/cluster/limits.ts';
import type { LaunchOutcome, LaunchRequest } from '../../providers/provider.ts';
import { freshOwner } from '../providers/launch-requests.ts';
import type { CloudUnderTest, StartedCloud } from '../support/clouds.ts';

export interface EmulatedCluster {
  state: ClusterState;
  nowMs(): number;
  /** Carries out decisions until the plan is empty at this moment. */
  settle(): Promise<Plan>;
  advance(ms: number): Promise<void>;
  /** Settles, and advances to the plan's next wake-up, until the condition holds or the cluster has ended. */
  runUntil(condition: () => boolean): Promise<void>;
  register(instance: ClusterInstance): void;
  /** The job is not notified. */
  suspect(ids: string[]): void;
  /** Stops it and waits for its end. */
  stop(): Promise<void>;
}

export interface EmulatedClusterOptions {
  instances: number;
  machines?: Partial<MachineSettings>;
  /** Called before each launch. */
  asked?: (request: LaunchRequest) => void;
  /** Called for instances that have just been launched. */
  launched?: (cluster: EmulatedCluster, instances: ClusterInstance[]) => Promise<void> | void;
  /** When the API last heard these agents. Default: never since they registered. */
  heard?: (ids: string[]) => Heard[];
  /** Called after every step. */
  watch?: (cluster: EmulatedCluster) => Promise<void> | void;
}

type TestedCloud = Pick<StartedCloud, 'of' | 'emulator' | 'provider'>;

const machinesOf = ({ types, region, zones }: CloudUnderTest): MachineSettings => ({
  workerTypes: types,
  headTypes: types.slice(0, 2),
  architecture: 'x86_64',
  spotPolicy: 'on-demand',
  region,
  zones,
  allowCrossZone: false,
  diskGib: 30,
});

export function createEmulatedCluster(cloud: TestedCloud, options: EmulatedClusterOptions): EmulatedCluster {
  const owner = freshOwner();
  let offsetMs = 0;
  const nowMs = (): number => Date.now() + offsetMs;
  const settings = {
    name: `cluster-${owner.cluster}`,
    job: owner.cluster,
    instances: options.instances,
    provider: cloud.of.name,
    providerQueue: cloud.of.name,
    instanceVcpus: 2,
    registerTimeoutMs: cloudRegisterTimeoutMs,
    machines: { ...machinesOf(cloud.of), ...options.machines },
    dask: null,
  };
  const state = createClusterState(
    { number: owner.cluster, workspace: owner.workspace, user: 'u', createdAtMs: nowMs() },
    settings,
  );

  const carryOut = async (decision: Decision): Promise<void> => {
    if (decision.kind === 'launch') {
      const token = `${owner.deploymentId}/${owner.workspace}/${owner.cluster}/${decision.seq}`;
      const { seq, slots, placement } = decision;
      const common = { owner, clusterName: settings.name, apiUrl: 'https://ropewalk.example', launchToken: 'secret' };
      const request = { ...common, token, slots, ...(placement === undefined ? {} : { placement }) };
      options.asked?.(request);
      applyLaunch(state, seq, await launchUntilAnswered(cloud, request), nowMs());
      await options.launched?.(
        cluster,
        state.instances.filter(({ launchSeq }) => launchSeq === seq),
      );
    }
    if (decision.kind === 'terminate') {
      await cloud.provider.terminate(owner, decision.ids, AbortSignal.timeout(60_000));
      applyTerminated(state, decision.ids, nowMs(), await cloud.provider.lifetimes?.(owner, decision.ids));
    }
    if (decision.kind === 'inspect') {
      const found = new Map((await cloud.provider.describe(owner, decision.ids)).map((each) => [each.id, each]));
      const seen = decision.ids.map((id) => {
        const is = found.get(id)?.state ?? 'unknown';
        const whyEnded = found.get(id)?.whyEnded;
        const word = is === 'gone' || is === 'stopping' ? ('gone' as const) : ('alive' as const);
        const why = whyEnded === undefined ? {} : { why: whyEnded };
        return { id, state: is === 'unknown' ? ('unknown' as const) : word, ...why };
      });
      applyInspection(
        state,
        { seen, linkWorks: true, heard: options.heard?.(decision.ids) ?? [], listeningMs: 3_600_000 },
        nowMs(),
      );
    }
  };

  const cluster: EmulatedCluster = {
    state,
    nowMs,
    async settle() {
      for (;;) {
        watchCapacity(state, nowMs());
        const atMs = nowMs();
        const plan = planCluster(state, atMs);
        if (plan.decisions.length === 0) return plan;
        for (const decision of plan.decisions) intend(state, decision, atMs);
        await Promise.all(plan.decisions.map(carryOut));
        await options.watch?.(cluster);
      }
    },
    async advance(ms) {
      offsetMs += ms;
      await cloud.emulator.send({ op: 'advance', ms });
    },
    async runUntil(condition) {
      for (;;) {
        const { done, wakeAtMs } = await cluster.settle();
        if (done || condition()) return;
        if (wakeAtMs === null) throw new Error(`It waits for nothing: ${JSON.stringify(state)}`);
        await cluster.advance(Math.max(0, wakeAtMs - nowMs()) + 1);
      }
    },
    register({ id }) {
      applyReport(state, { instance: id, bootId: `boot of ${id}`, kind: 'register', address: '10.0.0.1' }, nowMs());
    },
    suspect(ids) {
      const heardAtMs = nowMs();
      suspectInstances(
        state,
        ids.map((instance) => ({ instance, heardAtMs })),
        heardAtMs,
      );
    },
    async stop() {
      stopCluster(state, { code: 'STOPPED', text: 'the test has ended', atMs: nowMs() });
      await cluster.settle();
    },
  };
  return cluster;
}

/** As in the activity: a call with an unknown outcome is repeated under the same token. */
export async function launchUntilAnswered(cloud: TestedCloud, request: LaunchRequest): Promise<LaunchOutcome> {
  for (let tries = 0; tries < 20; tries += 1) {
    const outcome = await cloud.provider.launch(request).catch(() => null);
    if (outcome !== null) return outcome;
  }
  throw new Error('A launch was never answered.');
}
