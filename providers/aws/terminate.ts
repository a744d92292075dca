// Terminates instances until EC2 reports them as terminated. EC2 shows a new instance only after a while, so an unseen instance
// is terminated all the same, and counts as terminated only after it stayed unseen for longer than that delay.
import { setTimeout as sleep } from 'node:timers/promises';

import { TerminateInstancesCommand } from '@aws-sdk/client-ec2';

import { ec2InstanceId } from '../../domain/cloud-names.ts';
import { ownerKey } from '../../domain/owner.ts';
import type { Owner } from '../provider.ts';
import type { AwsClients } from './clients.ts';
import { describeIds, describeOwned } from './describe.ts';
import { codeOf } from './sdk-errors.ts';
import { tagsOf } from './tags.ts';
import { deleteTemplates } from './templates.ts';

const batchSize = 500;
const pollMs = 500;

export interface TerminateOptions {
  /** Maximum delay in milliseconds until EC2 shows a new instance. */
  unseenMs: number;
}

/** Never touches another owner's instances. Resolves when every other instance of `ids` is terminated. */
export async function terminateOwned(
  clients: AwsClients,
  owner: Owner,
  ids: string[],
  signal: AbortSignal,
  { unseenMs }: TerminateOptions,
): Promise<void> {
  signal.throwIfAborted();
  const startedMs = performance.now();
  let wanted = ids.filter((id) => ec2InstanceId.test(id));
  while (wanted.length > 0) {
    const seen = new Map((await describeIds(clients, wanted)).map((instance) => [instance.id, instance]));
    const mayBeNew = performance.now() - startedMs < unseenMs;
    wanted = wanted.filter((id) => {
      const instance = seen.get(id);
      if (instance === undefined) return mayBeNew;
      return instance.state !== 'gone' && ownerKey(instance.owner) === ownerKey(owner);
    });
    // Includes stopped instances, which would otherwise exist forever with their volumes.
    const asked = wanted.filter((id) => seen.get(id)?.isTerminating !== true);
    for (let from = 0; from < asked.length; from += batchSize) {
      await terminate(clients, asked.slice(from, from + batchSize));
    }
    if (wanted.length > 0) await sleep(pollMs, undefined, { signal });
  }
  // A cluster's templates are deleted with its last instance.
  if ((await describeOwned(clients, owner, [])).length === 0) await deleteTemplates(clients, tagsOf(owner));
}

/** One unknown id fails the whole call; then each id gets a call of its own. */
async function terminate(clients: AwsClients, ids: string[]): Promise<void> {
  try {
    await clients.limiter.run('terminate', () => clients.ec2.send(new TerminateInstancesCommand({ InstanceIds: ids })));
  } catch (error) {
    if (codeOf(error) !== 'InvalidInstanceID.NotFound') throw error;
    if (ids.length === 1) return;
    for (const id of ids) await terminate(clients, [id]);
  }
}
