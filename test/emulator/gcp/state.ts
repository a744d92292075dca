// The state of the emulated Compute Engine. Statuses follow from times: advancing the clock advances every status.
export type Market = 'on-demand' | 'spot';
export type Status = 'PROVISIONING' | 'RUNNING' | 'STOPPING' | 'TERMINATED';

export interface Instance {
  name: string;
  numericId: string;
  zone: string;
  /** The id of the launch request. */
  requestId: string;
  machineType: string;
  accelerator: { type: string; count: number } | null;
  market: Market;
  labels: Record<string, string>;
  metadata: Record<string, string>;
  serviceAccount: string | null;
  networkTags: string[];
  /** The subnetwork's name, in the region of the zone. */
  subnetwork: string;
  privateIp: string;
  /** Differs from the private address, as in Google Cloud: the machine itself knows it only from its metadata. */
  publicIp: string | null;
  diskType: string;
  createdAtMs: number;
  /** When reads first show it. */
  visibleFromMs: number;
  runningFromMs: number;
  /** It is off, exists, and its disk costs money. */
  stop: { atMs: number; stoppedAtMs: number } | null;
  deletion: { atMs: number; goneAtMs: number } | null;
  preemption: { noticeAtMs: number; atMs: number } | null;
  maxRunSeconds: number | null;
  /** It boots, but its agent never calls home. */
  mute: boolean;
  /** Its disk stays when it is deleted. */
  keepsDisk: boolean;
  /** Its processes are being ended. */
  isEnding: boolean;
}

export interface Disk {
  name: string;
  zone: string;
  labels: Record<string, string>;
  createdAtMs: number;
}

export interface Firewall {
  name: string;
  description: string;
  network: string;
  sourceRanges: string[];
  sourceTags: string[];
  targetTags: string[];
  /** `tcp`, or `all`. */
  protocol: string;
  ports: string[];
  createdAtMs: number;
}

export interface Operation {
  name: string;
  type: string;
  /** `zones/us-central1-a`, `regions/us-central1` or `global`. */
  scope: string;
  /** `zones/us-central1-a/instances/NAME` and the like. */
  target: string;
  groupId: string | null;
  insertedAtMs: number;
  /** A deletion ends when the instance's machine has ended. */
  doneAtMs: () => number;
  error: { code: string; message: string } | null;
  perLocation: Record<string, { targetVmCount: number; createdVmCount: number; failedToCreateVmCount: number }> | null;
}

/** Null when reads answer 404. */
export function statusAt(instance: Instance, nowMs: number): Status | null {
  const { deletion, stop, isEnding } = instance;
  if (deletion !== null && nowMs >= deletion.goneAtMs && !isEnding) return null;
  if (deletion !== null && nowMs >= deletion.atMs) return 'STOPPING';
  if (stop !== null && nowMs >= stop.atMs) return nowMs >= stop.stoppedAtMs && !isEnding ? 'TERMINATED' : 'STOPPING';
  return nowMs >= instance.runningFromMs ? 'RUNNING' : 'PROVISIONING';
}

/** Counts against capacity and quota. */
export function isLive(instance: Instance, nowMs: number): boolean {
  const status = statusAt(instance, nowMs);
  return status === 'PROVISIONING' || status === 'RUNNING';
}
