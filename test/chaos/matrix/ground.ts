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
  /** The task queue of its activities. */
  queue: string;
  /** The machine settings of a request; empty for a provider without machine types. */
  jobMachines: { vmTypes?: string[] };
  clusterMachines: { workerVmTypes?: string[]; schedulerVmTypes?: string[] };
  placement: Placement | null;
  /** From a process's environment: the instance it belongs to, or null. */
  instanceIn: (environment: string) => string | null;
  /**
   * The owners of this deployment's instances. Without a recorded slot, the role decides: slot 0 for the head, the next slots in
   * order for workers.
   */
  ownersOf: (instances: readonly string[]) => Promise<Map<string, Owner>>;
  /** Ends an instance as a power failure of its host would. */
  strike: (instance: string, pid: number) => Promise<void>;
  cloud: Cloud | null;
  close: () => Promise<void>;
}

/** The test's access to a cloud: its ledger and its faults. */
export interface Cloud {
  ledger: () => Promise<readonly LedgerEntry[]>;
  /** Keys of its tags or labels. */
  tags: CloudUnderTest['tags'];
  existing: CloudSide['existing'];
  /** Begins to answer late or not at all, to throttle, and to show new instances late; ends with the returned function. */
  beUnkind: (random: () => number) => () => Promise<void>;
  injected: () => Promise<Record<string, number>>;
}

export type GroundOptions = Required<Pick<StackOptions, 'home' | 'overrides'>>;
