// Cloud resources of a cluster besides its instances. Like instances they carry their owner in tags, and like instances they can become orphans.
import type { Owner } from './owner.ts';

export type CloudResourceKind = 'launch template' | 'volume' | 'security group' | 'firewall rule';

export interface CloudResource {
  id: string;
  kind: CloudResourceKind;
  owner: Owner;
  /** Null where the cloud does not report it. */
  createdAtMs: number | null;
}
