// The matrix on emulated EC2: instances are machines whose first process is an agent, and the cloud's own append-only ledger
// says what was launched for whom, and when it ended.
import { paginateDescribeLaunchTemplates } from '@aws-sdk/client-ec2';

import { cloudQueue } from '../../../domain/cloud-names.ts';
import { createAwsClients } from '../../../providers/aws/clients.ts';
import { createAwsProvider } from '../../../providers/aws/provider.ts';
import { tagKeys } from '../../../providers/aws/settings.ts';
import type { Order } from '../../emulator/control.ts';
import type { Emulator } from '../../emulator/emulator.ts';
import type { LedgerEntry } from '../../emulator/ledger.ts';
import { awsSettings, placement } from '../../providers/aws-cloud.ts';
import { startEc2Stack } from '../../support/ec2-stack.ts';
import type { Cloud, Ground, GroundOptions, Owner } from './ground.ts';

const types = ['m6i.large', 'm5.large'];
const calls = ['CreateFleet', 'CreateLaunchTemplate', 'TerminateInstances', 'DescribeInstances'] as const;
/** Longer than any weather shows an instance late, so that nothing is called gone that is merely not shown yet. */
const unseenMs = 10_000;

export async function startAwsGround(options: GroundOptions): Promise<Ground> {
  const ec2 = await startEc2Stack(options);
  const { emulator, stack } = ec2;
  Object.assign(process.env, {
    AWS_ENDPOINT_URL: emulator.url,
    AWS_ACCESS_KEY_ID: 'AKIATEST',
    AWS_SECRET_ACCESS_KEY: 'test',
  });
  const marker = new RegExp(`(?:^|\\0)AWS_EC2_METADATA_SERVICE_ENDPOINT=${emulator.url}/imds/(i-[0-9a-f]+)`);
  let entries: readonly LedgerEntry[] = [];
  return {
    stack,
    provider: createAwsProvider({ settings: awsSettings, unseenMs }),
    queue: cloudQueue('aws', awsSettings.region),
    jobMachines: { vmTypes: types },
    clusterMachines: { workerVmTypes: types, schedulerVmTypes: types },
    placement: placement({ types }),
    // A task has its agent's environment no more, but the name of its instance.
    instanceIn: (environment) =>
      marker.exec(environment)?.[1] ?? /(?:^|\0)ROPEWALK_INSTANCE=(i-[^\0]*)/.exec(environment)?.[1] ?? null,
    ownersOf: async (instances) => {
      const known = new Set(entries.map(({ id }) => id));
      if (instances.some((id) => !known.has(id))) entries = (await emulator.ledger()).entries;
      return placesOf(entries, instances);
    },
    strike: (id) => emulator.send({ op: 'die', id }),
    cloud: cloudOf(emulator),
    close: () => ec2.stop(),
  };
}

/** Tags name a role and no slot: the head is slot 0, workers are counted. Of what is not in the ledger, nothing is said. */
export function placesOf(entries: readonly LedgerEntry[], instances: readonly string[]): Map<string, Owner> {
  const wanted = new Set(instances);
  const workers = new Map<number, number>();
  const places = new Map<string, Owner>();
  for (const { event, id, tags } of entries) {
    if (event !== 'launched' || !wanted.has(id)) continue;
    const cluster = Number(tags[tagKeys.cluster]);
    const count = (workers.get(cluster) ?? 0) + 1;
    if (tags[tagKeys.role] !== 'head') workers.set(cluster, count);
    places.set(id, { cluster, slot: tags[tagKeys.role] === 'head' ? 0 : count });
  }
  return places;
}

function cloudOf(emulator: Emulator): Cloud {
  const clients = createAwsClients(awsSettings.region);
  return {
    ledger: async () => (await emulator.ledger()).entries,
    templates: async () => {
      const found: Awaited<ReturnType<Cloud['templates']>> = [];
      for await (const page of paginateDescribeLaunchTemplates({ client: clients.ec2 }, {})) {
        for (const { LaunchTemplateName, Tags } of page.LaunchTemplates ?? []) {
          const tag = (key: string): string => Tags?.find(({ Key }) => Key === key)?.Value ?? '';
          const [deploymentId, cluster] = [tag(tagKeys.deployment), Number(tag(tagKeys.cluster))];
          found.push({ name: LaunchTemplateName ?? '', deploymentId, cluster });
        }
      }
      return found;
    },
    beUnkind: (random) => weather(emulator, random),
    injected: async () => (await emulator.counts()).injected,
  };
}

const everyMs = 1_500;

/**
 * Changes every moment; no fault is worse than EC2 on a bad day, and each hits the next call. The next change clears the faults
 * that no call has met: kept for rare calls, they would add up to a cloud that never answers.
 */
function weather(emulator: Emulator, random: () => number): () => Promise<void> {
  const send = (order: Order): Promise<void> => emulator.send(order).catch(() => undefined);
  const pick = <const T>(from: readonly [T, ...T[]]): T => from[Math.floor(random() * from.length)] ?? from[0];
  const change = async (): Promise<void> => {
    await send({ op: 'clearFaults' });
    for (const action of calls) await send({ op: 'loseAnswers', action, share: 0.1, seed: Math.floor(random() * 1e9) });
    const kind = pick(['lost', 'cut', 'error']);
    await send({ op: 'fault', fault: { action: pick(calls), kind, ...(kind === 'error' ? throttled : {}) } });
    await send({ op: 'delays', visibleMs: pick([0, 1_000, 4_000]), shutdownMs: random() * 1_500 });
  };
  let changing = change();
  const timer = setInterval(() => (changing = changing.then(change)), everyMs);
  return async () => {
    clearInterval(timer);
    await changing;
    await send({ op: 'clearFaults' });
    await send({ op: 'delays', visibleMs: 0, shutdownMs: 0 });
  };
}

const throttled = { code: 'RequestLimitExceeded', message: 'Request limit exceeded.', status: 503, times: 3 };
