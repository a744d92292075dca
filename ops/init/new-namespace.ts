// `--new-temporal-namespace` of `ropewalk init` and `ropewalk dev`: forgets the Temporal namespace of the deployment after its loss, so that
// another one can be claimed. Explains the consequences and asks first; in a namespace that still exists, no workflow may be given up.
import { Client } from '@temporalio/client';

import { RopewalkError } from '../../domain/errors.ts';
import { isRecorded, type NamespaceFound, readNamespace } from '../../platform/namespace-claim.ts';
import type { TemporalNamespace } from '../../store/deployment-port.ts';
import type { Store } from '../../store/store.ts';
import { countOpen } from '../open-work.ts';
import { plural } from '../plural.ts';
import { type Claimant, refuseForeign } from './claim.ts';

export interface Consent {
  /** Skips the question. */
  yes: boolean;
  /** Shows the question and returns the typed line; null when standard input is closed. */
  ask: (question: string) => Promise<string | null>;
}

export interface Forgetting extends Claimant, Consent {
  /** Of the namespace that replaces the lost one. */
  client: Client;
  /** Of the Temporal server. */
  address: string;
  store: Pick<Store, 'deployment' | 'jobs' | 'clusters'>;
  /** For the consequences, before the question. */
  say: (line: string) => void;
}

/**
 * Returns its changes, as sentences.
 *
 * @throws RopewalkError CONFLICT when nothing is lost, VALIDATION without consent; nothing was changed.
 */
export async function forgetNamespace(forgetting: Forgetting): Promise<string[]> {
  const { client, address, store, host, say } = forgetting;
  const { deploymentId } = host;
  await refuseForeign(client, forgetting);
  const row = await store.deployment.read();
  const name = row?.temporalNamespace ?? null;
  if (row === null || name === null) {
    say('The database has recorded no Temporal namespace: there is none to forget.');
    return [];
  }
  const known: TemporalNamespace = { name, id: row.temporalNamespaceId };
  const { connection } = client;
  const found = await readNamespace(new Client({ connection, namespace: name }));
  const open = await countOpen(store);
  const where = { deploymentId, address };
  if (isRecorded(found, known.id)) requireNothingToLose({ ...where, name, open, namespace: client.options.namespace });
  for (const line of consequences({ ...where, found, known, open })) say(line);
  await confirm(deploymentId, forgetting);
  if (!(await store.deployment.forgetTemporalNamespace(known))) throw changedMeanwhile();
  return [
    `forgot the Temporal namespace ${name}${known.id === null ? '' : ` (${known.id})`}: ${openText(open)} lost their workflow`,
  ];
}

interface Open {
  jobs: number;
  clusters: number;
}

const openText = ({ jobs, clusters }: Open): string =>
  `${plural(jobs, 'open job')} and ${plural(clusters, 'open cluster')}`;

/** A move to another namespace of the same server gives up no workflow once everything has ended. */
function requireNothingToLose(kept: {
  deploymentId: string;
  address: string;
  name: string;
  namespace: string;
  open: Open;
}): void {
  const { deploymentId, address, name, namespace, open } = kept;
  const isMove = name !== namespace;
  if (isMove && open.jobs + open.clusters === 0) return;
  throw new RopewalkError({
    code: 'CONFLICT',
    message: `The Temporal server at ${address} still has the namespace ${name} of deployment ${deploymentId}${isMove ? `, with ${openText(open)}` : ': nothing is lost'}; nothing was changed.`,
    hint: isMove ? `End all jobs and clusters in ${name} first.` : 'Run the command without --new-temporal-namespace.',
  });
}

function consequences(loss: {
  deploymentId: string;
  address: string;
  found: NamespaceFound;
  known: TemporalNamespace;
  open: Open;
}): string[] {
  const { deploymentId, address, found, known, open } = loss;
  const isKept = isRecorded(found, known.id);
  const id = known.id === null ? '' : ` (id ${known.id})`;
  const what = found.exists ? 'has another namespace' : 'has no namespace';
  return [
    isKept
      ? `Deployment ${deploymentId} leaves the Temporal namespace ${known.name}${id} at ${address}.`
      : `The Temporal server at ${address} ${what} ${known.name}${found.exists ? ' than the one' : ''}${id} that deployment ${deploymentId} uses.`,
    ...(isKept
      ? []
      : ['  If it is on another server or in a backup, stop here: set TEMPORAL_ADDRESS, or restore the backup.']),
    'With a new namespace:',
    `  ${openText(open)} lose their workflow and end with an error (ENDED_FROM_OUTSIDE).`,
    '  Their instances are terminated, with all that runs there. The sweep terminates every other instance of this deployment, on a cloud too,',
    '  within about ten minutes after a Temporal worker has started; `ropewalk destroy --by-tag` terminates them before.',
    '  Ended jobs and clusters, files, users, tokens and numbers stay; schedules of jobs are created again.',
  ];
}

async function confirm(deploymentId: string, { yes, ask }: Consent): Promise<void> {
  if (yes) return;
  const typed = await ask("Type the deployment's id to continue: ");
  if (typed?.trim() === deploymentId) return;
  throw new RopewalkError({
    code: 'VALIDATION',
    message: typed === null ? 'not confirmed; nothing was changed' : 'this is not its id; nothing was changed',
    hint: `Type ${deploymentId} when asked, or add --yes.`,
  });
}

const changedMeanwhile = (): RopewalkError =>
  new RopewalkError({
    code: 'CONFLICT',
    message: 'another process has changed the Temporal namespace in the database; nothing was changed',
    hint: 'Run the command again.',
  });
