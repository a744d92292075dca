// Ends instances until EC2 says that they are gone. EC2 shows a new instance only after a while, so one that it does not
// show is asked to end all the same, and counts as gone only after it has stayed unseen for longer than that can take.
import { setTimeout as sleep } from 'node:timers/promises';

import { TerminateInstancesCommand } from '@aws-sdk/client-ec2';

import { ec2InstanceId } from '../../domain/cloud-names.ts';
import { ownerKey } from '../../domain/owner.ts';
import type { Owner } from '../provider.ts';
import type { AwsClients } from './clients.ts';
import { describeIds, describeOwned } from './describe.ts';
import { codeOf } from './sdk-errors.ts';
import { deleteTemplates, tagsOf } from './templates.ts';

const batchSize = 500;
const pollMs = 500;

export interface TerminateOptions {
  /** So long after its launch an instance may not be shown yet. */
  unseenMs: number;
}

/** Another owner's instances are never touched. Resolves once every other of `ids` is gone. */
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
    // One that somebody stopped would stay for ever, with its volume.
    const stays = wanted.filter((id) => seen.get(id)?.ends !== true);
    for (let from = 0; from < stays.length; from += batchSize) await end(clients, stays.slice(from, from + batchSize));
    if (wanted.length > 0) await sleep(pollMs, undefined, { signal });
  }
  // With its last instance a cluster's templates go too.
  if ((await describeOwned(clients, owner, [])).length === 0) await deleteTemplates(clients, tagsOf(owner));
}

/** One id that EC2 does not know fails the whole call, so then each is asked for alone. */
async function end(clients: AwsClients, ids: string[]): Promise<void> {
  try {
    await clients.limiter.run('terminate', () => clients.ec2.send(new TerminateInstancesCommand({ InstanceIds: ids })));
  } catch (error) {
    if (codeOf(error) !== 'InvalidInstanceID.NotFound') throw error;
    if (ids.length === 1) return;
    for (const id of ids) await end(clients, [id]);
  }
}
