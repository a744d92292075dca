// What a cloud keeps for a cluster besides its instances. Like them it carries its owner in its tags, and like them it can
// be left behind.
import type { Owner } from './owner.ts';

export type CloudResourceKind = 'launch template' | 'volume' | 'security group' | 'firewall rule';

export interface CloudResource {
  id: string;
  kind: CloudResourceKind;
  owner: Owner;
  /** Null where the cloud does not say. */
  createdAtMs: number | null;
}
