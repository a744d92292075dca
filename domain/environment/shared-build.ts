// Environments that one instance builds and others download: decides who builds, who waits, and which archive counts. The builder holds a lease,
// which expires when the builder dies. The lease only saves work: if two instances build anyway, the first complete archive counts.
import type { BuildStage } from './build-stages.ts';
import {
  buildLeaseMs,
  failedBuildMs,
  maxWaitPauseMs,
  minWaitPauseMs,
  noteUseEveryMs,
  tooLargeMs,
  unpinnedArchiveMs,
} from './limits.ts';

export interface Builder {
  instance: string;
  cluster: number;
  /** The user of the cluster. */
  user: string;
}

export interface Archive {
  /** Lower-case hexadecimal. */
  sha256: string;
  bytes: number;
  unpackedBytes: number;
  /** Duration of the build, without packing and uploading. */
  buildMs: number;
  storedAtMs: number;
}

/** One environment on one platform in one workspace. `claim` counts the instances that were asked to build it. */
export type SharedBuild = { claim: number; builder: Builder; claimedAtMs: number; usedAtMs: number } &
  /** `stage` is absent until the builder has reported it. */
  (
    | { state: 'building'; leaseUntilMs: number; stage?: BuildStage }
    | { state: 'stored'; archive: Archive; isPinned: boolean }
    /** Until then each instance builds its own. */
    | { state: 'unshared'; why: UnsharedReason; untilMs: number }
  );

export type UnsharedReason = 'failed' | 'too-large';

export type BuildAnswer =
  | { do: 'download'; archive: Archive }
  | { do: 'build'; claim: number }
  | { do: 'wait'; retryAfterMs: number; stage: BuildStage | null }
  | { do: 'alone'; why: UnsharedReason };

export interface Decision {
  /** The new record; null when it is unchanged. */
  next: SharedBuild | null;
  answer: BuildAnswer;
}

/** `damaged`: the SHA-256 of an archive that the instance downloaded and could not use. */
export function decideBuild(
  known: SharedBuild | null,
  { builder, damaged, nowMs }: { builder: Builder; damaged: string | null; nowMs: number },
): Decision {
  const build = (): Decision => {
    const claim = (known?.claim ?? 0) + 1;
    const leaseUntilMs = nowMs + buildLeaseMs;
    const next: SharedBuild = { state: 'building', claim, builder, claimedAtMs: nowMs, usedAtMs: nowMs, leaseUntilMs };
    return { next, answer: { do: 'build', claim } };
  };
  if (known === null) return build();
  const isItself = known.builder.instance === builder.instance;
  switch (known.state) {
    case 'stored': {
      const isOld = !known.isPinned && nowMs - known.archive.storedAtMs >= unpinnedArchiveMs;
      if (known.archive.sha256 === damaged || isOld) return build();
      const isNoted = nowMs - known.usedAtMs < noteUseEveryMs;
      return {
        next: isNoted ? null : { ...known, usedAtMs: nowMs },
        answer: { do: 'download', archive: known.archive },
      };
    }
    case 'building': {
      // The builder's answer was lost, or its agent restarted.
      if (isItself || nowMs >= known.leaseUntilMs) return build();
      const retryAfterMs = Math.round(
        Math.min(maxWaitPauseMs, Math.max(minWaitPauseMs, (nowMs - known.claimedAtMs) / 8)),
      );
      return { next: null, answer: { do: 'wait', retryAfterMs, stage: known.stage ?? null } };
    }
    case 'unshared': {
      const mayTryAgain = isItself && known.why === 'failed';
      if (mayTryAgain || nowMs >= known.untilMs) return build();
      return { next: null, answer: { do: 'alone', why: known.why } };
    }
  }
}

/** Renews the builder's lease. Returns null when another instance was asked to build, or an archive is stored. */
export function renewBuild(
  known: SharedBuild,
  { claim, stage, nowMs }: { claim: number; stage: BuildStage | null; nowMs: number },
): SharedBuild | null {
  if (known.state !== 'building' || known.claim !== claim) return null;
  return { ...known, leaseUntilMs: nowMs + buildLeaseMs, ...(stage === null ? {} : { stage }) };
}

/** Notes that the builder will not store an archive. Returns null when that no longer matters. */
export function giveUpBuild(
  known: SharedBuild,
  { claim, why, nowMs }: { claim: number; why: UnsharedReason; nowMs: number },
): SharedBuild | null {
  if (known.state !== 'building' || known.claim !== claim) return null;
  const { builder, claimedAtMs, usedAtMs } = known;
  const untilMs = nowMs + (why === 'failed' ? failedBuildMs : tooLargeMs);
  return { state: 'unshared', claim, builder, claimedAtMs, usedAtMs, why, untilMs };
}

/**
 * Decides whether an instance that was asked to build may store its archive. The first complete archive counts, also that of a builder whose lease
 * has expired. `ours`: this archive is the stored one, or may be uploaded and recorded.
 */
export function mayStore(known: SharedBuild | null, claim: number, sha256: string): 'ours' | 'other' | 'unknown' {
  if (known === null || claim < 1 || claim > known.claim) return 'unknown';
  if (known.state !== 'stored') return 'ours';
  return known.archive.sha256 === sha256 ? 'ours' : 'other';
}

/** Records an archive whose bytes are all in the object store. Returns null when this or another archive is already recorded. */
export function storeArchive(
  known: SharedBuild,
  item: { claim: number; builder: Builder; archive: Archive; isPinned: boolean },
): SharedBuild | null {
  const { claim, builder, archive, isPinned } = item;
  if (known.state === 'stored' || mayStore(known, claim, archive.sha256) !== 'ours') return null;
  const { claimedAtMs } = known;
  return {
    ...{ state: 'stored', claim: known.claim, builder, claimedAtMs },
    ...{ usedAtMs: archive.storedAtMs, archive, isPinned },
  };
}
