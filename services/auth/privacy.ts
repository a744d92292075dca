// What is private to its creator: everybody in the workspace sees that it is there, and an admin may end it; what it does
// and prints, its dashboard and its credentials are its creator's alone, and so are all changes.
import { RopewalkError } from '../../domain/errors.ts';
import { includes } from '../../domain/workspace/authority.ts';
import type { ClusterView } from '../../contracts/cluster.ts';
import type { JobView } from '../../contracts/job.ts';
import type { Actor, Deps } from '../context.ts';

interface Owned {
  kind: 'Cluster' | 'Job';
  number: number;
  user: string;
  isPrivate: boolean;
}

export const ownedJob = ({ number, user, privateToCreator = false }: JobView): Owned => ({
  kind: 'Job',
  number,
  user,
  isPrivate: privateToCreator,
});

/** A job's cluster is as private as its job. */
export async function ownedCluster({ views }: Pick<Deps, 'views'>, view: ClusterView): Promise<Owned> {
  const { number, user, workspace } = view;
  if (view.job !== null) {
    const { value } = await views.workspace(workspace, holderMaxAgeMs);
    const holder = value?.holders.find((each) => each.number === view.job);
    const isPrivate =
      holder === undefined ? (await views.job(workspace, view.job)).view.privateToCreator : holder.privateToCreator;
    return { kind: 'Cluster', number, user, isPrivate: isPrivate ?? false };
  }
  return { kind: 'Cluster', number, user, isPrivate: view.dask?.privateToCreator ?? false };
}

/** Whether a job is private never changes. */
const holderMaxAgeMs = 60_000;

export const isHidden = (actor: Actor, { isPrivate, user }: Owned): boolean => isPrivate && user !== actor.user;

/** For what only the creator of a private one may. */
export function requireCreator(actor: Actor, owned: Owned, what: string): void {
  if (isHidden(actor, owned)) throw notYours(owned, what);
}

/** An admin may end what is somebody's alone: it counts for the workspace's limits. */
export function requireMayEnd(actor: Actor, owned: Owned): void {
  if (!includes(actor.scopes, 'admin')) requireCreator(actor, owned, 'may end it, beside admins');
}

const notYours = ({ kind, number, user }: Owned, what: string) =>
  new RopewalkError({
    code: 'FORBIDDEN',
    message: `${kind} ${number} is private: only ${user}, who created it, ${what}.`,
    hint: `Ask ${user}, or start one of your own.`,
  });
