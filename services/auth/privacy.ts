// Private jobs and clusters. All members of the workspace see that one exists, and an admin may end it; its command, output, events, dashboard and
// credentials, and all changes, are for its creator only. An admin can create a token for any user and read that user's private objects with it; the
// workspace's events name the token and its creator.
import { RopewalkError } from '../../domain/errors.ts';
import { includes } from '../../domain/people/authority.ts';
import type { StoredRecord } from '../../store/store.ts';
import { isAdmissionOf } from '../admission/admission-id.ts';
import type { Actor } from '../context.ts';

type Owned = Pick<StoredRecord<unknown>, 'number' | 'user' | 'privateToCreator' | 'admissionId'>;

/** Compares user ids, because a name that was removed and added again belongs to another user. */
export const isHidden = (
  { userId }: Actor,
  { privateToCreator, admissionId }: Pick<Owned, 'privateToCreator' | 'admissionId'>,
): boolean => privateToCreator && !isAdmissionOf(userId, admissionId);

/** A reader of the same workspace to whom nothing private belongs: ids of users have no such character. */
export const outsiderIn = (actor: Actor): Actor => ({
  ...actor,
  ...{ user: '\0', userId: '\0', role: 'read-only', scopes: ['read'] },
});

/** For what only the creator of a private one may do. Throws FORBIDDEN. */
export function requireCreator(actor: Actor, kind: 'Cluster' | 'Job', record: Owned, what: string): void {
  if (!isHidden(actor, record)) return;
  const { number, user } = record;
  throw new RopewalkError({
    code: 'FORBIDDEN',
    message: `${kind} ${number} is private: only ${user}, who created it, ${what}.`,
    hint: `Ask ${user}, or start one of your own.`,
  });
}

/** An admin may end a private one too, because it counts towards the workspace's limits. */
export function requireMayEnd(actor: Actor, kind: 'Cluster' | 'Job', record: Owned): void {
  if (!includes(actor.scopes, 'admin')) requireCreator(actor, kind, record, 'may end it, beside admins');
}
