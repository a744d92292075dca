// Names and labels of Ropewalk's resources in a project. A name contains a hash of its owner, because operations on deleted
// resources have no labels and are attributed by name.
import { createHash } from 'node:crypto';

import { gceInstanceId } from '../../domain/cloud-names.ts';
import { RopewalkError } from '../../domain/errors.ts';
import { ownerKey } from '../../domain/owner.ts';
import type { Owner } from '../provider.ts';

const hash = (text: string, length: number): string => createHash('sha256').update(text).digest('hex').slice(0, length);

/** Prefix of every name of this owner, and the network tag of its head instance. */
export const ownerName = (owner: Owner): string => `rw-${hash(ownerKey(owner), 10)}`;

/** The same launch and slot have the same name: Compute Engine refuses a second instance of a name in a zone. */
export const instanceName = (owner: Owner, token: string, slot: number): string =>
  `${ownerName(owner)}-${hash(token, 10)}-${slot}`;

export const isOwnName = (owner: Owner, name: string): boolean =>
  gceInstanceId.test(name) && name.startsWith(`${ownerName(owner)}-`);

/**
 * Compute Engine applies a repeated request with the same id only once. A UUID with the version and variant of RFC 9562, so
 * that every parser accepts it.
 */
export function requestIdOf(...parts: readonly unknown[]): string {
  const hex = hash(JSON.stringify(parts), 32);
  return [hex.slice(0, 8), hex.slice(8, 12), `8${hex.slice(13, 16)}`, `a${hex.slice(17, 20)}`, hex.slice(20, 32)].join(
    '-',
  );
}

/** Label keys have no colon, unlike EC2's tags. */
const keys = { deployment: 'ropewalk-deployment', workspace: 'ropewalk-workspace', cluster: 'ropewalk-cluster' };

export type Labels = Record<string, string>;

/** @throws RopewalkError VALIDATION for a name that a label cannot hold. */
export function labelsOf(owner: Owner): Labels {
  return {
    [keys.deployment]: labelValue(owner.deploymentId),
    [keys.workspace]: labelValue(owner.workspace),
    [keys.cluster]: String(owner.cluster),
  };
}

export const deploymentLabel = (deploymentId: string): Labels => ({ [keys.deployment]: labelValue(deploymentId) });

function labelValue(value: string): string {
  if (/^[a-z0-9_-]{1,63}$/.test(value)) return value;
  throw new RopewalkError({
    code: 'VALIDATION',
    message: `${JSON.stringify(value)} cannot be a label of Google Cloud.`,
    hint: 'Use a workspace whose name has at most 63 lower-case letters, digits, "-" and "_".',
  });
}

/** null without Ropewalk's labels: the resource belongs to other software. */
export function ownerIn(labels: Readonly<Record<string, string>> | null | undefined): Owner | null {
  const deploymentId = labels?.[keys.deployment];
  const workspace = labels?.[keys.workspace];
  const cluster = Number(labels?.[keys.cluster] ?? Number.NaN);
  if (deploymentId === undefined || workspace === undefined || !Number.isInteger(cluster)) return null;
  return { deploymentId, workspace, cluster };
}

/** A list filter for resources with all of these labels. */
export const labelFilter = (labels: Labels): string =>
  Object.entries(labels)
    .map(([key, value]) => `(labels.${key} = "${value}")`)
    .join(' AND ');

/** Whether a zone, or its URL, is in this region: `us-central1-a`, and the AI zone `us-central1-ai1a`. */
export const isInRegion = (zone: string | null | undefined, region: string): boolean =>
  lastPart(zone).startsWith(`${region}-`);

/** The last part of a resource's URL. */
export const lastPart = (url: string | null | undefined): string => (url ?? '').split('/').at(-1) ?? '';
