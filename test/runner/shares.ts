// The part `full` takes too long for each run of CI: each day has a share of its files, and shareCount days have all of them.

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

/** Seconds at a load of 20. Only their proportions matter; any other file counts as one of `usualSeconds`. */
const seconds: Record<string, number> = {
  'test/dev/endings.full.test.ts': 176,
  'test/dev/stack.full.test.ts': 156,
  'test/environment/shared.full.test.ts': 256,
  'test/environment/uv.full.test.ts': 116,
  'test/integration/batch-files-gcs.full.test.ts': 147,
  'test/integration/batch-files.full.test.ts': 169,
  'test/integration/readme.full.test.ts': 312,
  'test/integration/stuck-workflows.full.test.ts': 240,
  'test/integration/two-hosts.full.test.ts': 264,
  'test/replay/twins.full.test.ts': 111,
  'test/security/fuzz-api.full.test.ts': 300,
};
const usualSeconds = 65;

/** The number of a share: `2/3`, or `today`. */
export function parseShare(text: string, nowMs: number): number {
  if (text === 'today') return shareOfDay(nowMs);
  const [, share, count] = /^(\d+)\/(\d+)$/.exec(text) ?? [];
  if (Number(count) === shareCount && Number(share) >= 1 && Number(share) <= shareCount) return Number(share);
  throw new Error(`there is no share ${text}: today, or 1/${shareCount} to ${shareCount}/${shareCount}`);
}

/** Those of the given files that a share has. The longest files first, each to the smallest share. */
export function filesOfShare(files: readonly string[], share: number): string[] {
  const shares = Array.from({ length: shareCount }, () => ({ seconds: 0, files: new Array<string>() }));
  const divided = files.filter((path) => !Object.hasOwn(inNoShare, path));
  for (const path of divided.toSorted((a, b) => secondsOf(b) - secondsOf(a))) {
    const smallest = shares.reduce((least, each) => (each.seconds < least.seconds ? each : least));
    smallest.seconds += secondsOf(path);
    smallest.files.push(path);
  }
  return shares[share - 1]?.files.toSorted() ?? [];
}

const secondsOf = (path: string): number => seconds[path] ?? usualSeconds;
