// The clusters of a workspace's simulated world: what they have, which is more than they want while instances end, and what
// they say of it, which may arrive late and in any order.
import type { WorkspaceState } from '../../domain/workspace/state.ts';
import type { WorkspaceRules } from './rules.ts';
import { type Met, must, pick } from './worlds.ts';

/** As its workflow would be: the newest request of each kind counts. */
export interface Cluster {
  number: number;
  target: number;
  most: number;
  scaleSeq: number;
  adaptSeq: number;
  /** Instances that are there, on their way out or not; never fewer than wanted. */
  running: number;
  /** What it has said of itself and its workspace has not heard yet, and what it said last. */
  words: { instances: number; scale: number; adapt: number }[];
  said: { instances: number; scale: number; adapt: number } | null;
}

interface Workspace {
  rules: WorkspaceRules;
  state: WorkspaceState;
  clusters: Cluster[];
  messages: { cluster: Cluster }[];
  met: Met<string>;
}

/** Those beyond are there until they end. */
export function aim(cluster: Cluster, target: number): void {
  cluster.target = target;
  cluster.running = Math.max(cluster.running, target);
}

/** As its workflow does: when it goes by another request, and when it has become smaller. */
export function speak(cluster: Cluster): void {
  const { said, running: instances, scaleSeq: scale, adaptSeq: adapt } = cluster;
  if (scale === 0 && adapt === 0) return;
  if (said !== null && said.scale === scale && said.adapt === adapt && said.instances <= instances) return;
  cluster.said = { instances, scale, adapt };
  cluster.words.push(cluster.said);
}

/** One that is not wanted has ended, and perhaps a word of this cluster arrives, an early one or a late one. */
export function endOne(world: Workspace, cluster: Cluster, word: number | null): void {
  if (cluster.running > cluster.target) cluster.running -= 1;
  speak(cluster);
  if (word !== null) hear(world, cluster, word);
}

export function hear({ rules, state, met }: Workspace, cluster: Cluster, which: number): void {
  const word = pick(cluster.words, which);
  if (word === undefined) return;
  cluster.words = cluster.words.filter((each) => each !== word);
  const held = () => state.holders.find((each) => each.number === cluster.number)?.instances ?? 0;
  const before = held();
  rules.noteFootprint(state, { number: cluster.number, ...word });
  must(held() <= before, () => 'a word of what it has took more');
  if (held() < before) met('given back');
}

/** Everything has been said and heard, and nothing is there that is not wanted: then no more is held than may be wanted. */
export function settleAll(world: Workspace): void {
  for (const cluster of world.clusters) {
    while (cluster.running > cluster.target) endOne(world, cluster, 0);
    while (cluster.words.length > 0) hear(world, cluster, 0);
    const holder = world.state.holders.find((each) => each.number === cluster.number);
    const share = holder?.share;
    // One whose newest request was lost does not know of it, and keeps what it has until the next.
    if (share === undefined || share.scale.seq !== cluster.scaleSeq || share.adapt.seq !== cluster.adaptSeq) continue;
    if (world.messages.some((message) => message.cluster === cluster)) continue;
    const most = Math.max(share.scale.wanted, share.adapt.wanted, cluster.target);
    must(holder?.instances === most, () => `${holder?.instances} are held for ever, where ${most} may be wanted`);
  }
}
