// The part `full` takes too long for each run of CI: each day has a share of its files, and shareCount days have all of them.
import { createHash } from 'node:crypto';

export const shareCount = 3;

/** From 1 on. All runs of the same day (UTC) have the same share. */
export const shareOfDay = (nowMs: number): number => (Math.floor(nowMs / 86_400_000) % shareCount) + 1;

/** Files that CI cannot run, or not without skipping tests, with the reason. They are in no share. */
export const inNoShare: Record<string, string> = {
  'test/agent/container-user.full.test.ts': 'podman, a network namespace and a mount of /dev/mqueue',
  'test/agent/containers.full.test.ts': 'podman',
  'test/agent/image-registry.full.test.ts': 'podman and docker-registry',
  'test/agent/metadata-agent.full.test.ts': 'root, a network namespace and a packet filter',
  'test/agent/metadata-block.full.test.ts': 'root, a network namespace, nft and iptables',
  'test/agent/sidecars.full.test.ts': 'podman',
  'test/environment/build-user.full.test.ts': 'root',
  'test/integration/containers.full.test.ts': 'podman',
};

/** Half of the time of all: three lines are one file for each share, with about the same sums. The others are divided by their names. */
const longest = [
  'test/integration/readme.full.test.ts',
  'test/security/fuzz-api.full.test.ts',
  'test/integration/two-hosts.full.test.ts',
  'test/integration/batch-files-gcs.full.test.ts',
  'test/integration/stuck-workflows.full.test.ts',
  'test/environment/shared.full.test.ts',
  'test/environment/uv.full.test.ts',
  'test/dev/endings.full.test.ts',
  'test/integration/batch-files.full.test.ts',
  'test/dev/stack.full.test.ts',
];

/** The number of a share: `2/3`, or `today`. */
export function parseShare(text: string, nowMs: number): number {
  if (text === 'today') return shareOfDay(nowMs);
  const [, share, count] = /^(\d+)\/(\d+)$/.exec(text) ?? [];
  if (Number(count) === shareCount && Number(share) >= 1 && Number(share) <= shareCount) return Number(share);
  throw new Error(`there is no share ${text}: today, or 1/${shareCount} to ${shareCount}/${shareCount}`);
}

/** Those of the given files that a share has. A new file changes the share of no other one, so that none waits for longer. */
export const filesOfShare = (files: readonly string[], share: number): string[] =>
  files.filter((path) => !Object.hasOwn(inNoShare, path) && shareOf(path) === share);

const shareOf = (path: string): number => {
  const at = longest.indexOf(path);
  if (at >= 0) return (at % shareCount) + 1;
  return (createHash('sha256').update(path).digest().readUInt32BE(8) % shareCount) + 1;
};
