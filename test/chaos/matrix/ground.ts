// The ground of the matrix: a stack on one provider, and a source other than the product that knows the owner of each instance.
import type { Provider, Placement } from '../../../providers/provider.ts';
import type { CloudSide } from '../../support/cloud-sides.ts';
import type { CloudUnderTest } from '../../support/clouds.ts';
import type { StackOptions, TestStack } from '../../support/stack.ts';
import type { LedgerEntry } from '../../emulator/ledger.ts';

export interface Owner {
  cluster: number;
  slot: number;
}

export interface Ground {
  stack: TestStack;
  provider: Provider;
  /** Where its activities run. */
  queue: string;
  /** What a request must say about machines; nothing where there is no choice. */
  jobMachines: { vmTypes?: string[] };
  clusterMachines: { workerVmTypes?: string[]; schedulerVmTypes?: string[] };
  placement: Placement | null;
  /** Of a process's environment: the instance it belongs to, or null. */
  instanceIn: (environment: string) => string | null;
  /** Of those that are ours. Instances without slots get them by their role: the head 0, workers the next ones in order. */
  ownersOf: (instances: readonly string[]) => Promise<Map<string, Owner>>;
  /** Ends an instance as if its host had lost power. */
  strike: (instance: string, pid: number) => Promise<void>;
  cloud: Cloud | null;
  close: () => Promise<void>;
}

/** The other side of a cloud: its books, and its bad days. */
export interface Cloud {
  ledger: () => Promise<readonly LedgerEntry[]>;
  /** Keys of its tags or labels. */
  tags: CloudUnderTest['tags'];
  existing: CloudSide['existing'];
  /** Begins to answer late, not at all, with throttling, and to show new instances late; ends with the returned function. */
  beUnkind: (random: () => number) => () => Promise<void>;
  injected: () => Promise<Record<string, number>>;
}

export type GroundOptions = Required<Pick<StackOptions, 'home' | 'overrides'>>;
