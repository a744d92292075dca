// Fills the directory of an environment with another instance's archive where one exists, or builds it, also for other
// instances when the control plane requests that. On any problem with archives the instance builds by itself, and reports it.
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { buildStages, type BuildStage } from '../../../../domain/environment/build-stages.ts';
import { maxBuildWaitMs } from '../../../../domain/environment/limits.ts';
import { formatBytes, formatDuration } from '../../../../domain/units.ts';
import type { BuildClaimAnswer } from '../../../../schema/shared-builds.ts';
import { ownName } from '../builder.ts';
import type { OnStage } from '../stages.ts';
import { emptyDirectory } from '../files.ts';
import type { Tools } from '../run-tool.ts';
import { DamagedArchive, fetchArchive } from './fetch.ts';
import { packForOthers, type Upload } from './pack.ts';
import type { SharedBuilds } from './port.ts';

export interface ObtainInput {
  shared: SharedBuilds;
  tools: Tools;
  /** Exists and is empty. */
  directory: string;
  hash: string;
  platform: string;
  /** The requirements name every version. */
  isPinned: boolean;
  /** A program in the environment that must run. */
  python: string;
  enter: OnStage;
  build: (enter: OnStage) => Promise<void>;
}

export interface Obtained {
  /** Null when built here. */
  downloaded: { bytes: number; ms: number } | null;
  /** Sends the archive that this instance packed for others; never rejects. */
  upload: Upload | null;
}

export async function obtainEnvironment(input: ObtainInput): Promise<Obtained> {
  const { shared, tools, directory, hash, platform, enter, build } = input;
  const deadlineMs = performance.now() + maxBuildWaitMs;
  const alone = async (why: string | null): Promise<Obtained> => {
    if (why !== null) shared.note({ code: 'ENVIRONMENT_NOT_SHARED', text: `built its environment by itself: ${why}` });
    await build(enter);
    return { downloaded: null, upload: null };
  };
  for (let damaged: string | null = null; ;) {
    const answer = await shared.claim({ hash, platform, damaged });
    tools.signal?.throwIfAborted();
    if (answer === null) return alone('the control plane did not say in time whether there is an archive');
    switch (answer.do) {
      case 'alone':
        return alone(null);
      case 'wait':
        if (performance.now() > deadlineMs) return alone('the instance that builds it takes too long');
        enter('wait', answer.stage);
        await sleep(answer.retryAfterMs * (0.75 + Math.random() / 2), undefined, { signal: tools.signal });
        break;
      case 'build':
        return { downloaded: null, upload: await buildForOthers(input, answer) };
      case 'download': {
        const fetched = await fetchInto(input, answer);
        if ('downloaded' in fetched) return fetched;
        await emptyDirectory(tools, directory);
        if (!fetched.isDamaged || damaged !== null) return alone(fetched.why);
        shared.note({
          code: 'ENVIRONMENT_NOT_SHARED',
          text: `found a damaged archive of its environment: ${fetched.why}`,
        });
        damaged = answer.sha256;
        break;
      }
    }
  }
}

async function fetchInto(
  { shared, tools, directory, python, enter }: ObtainInput,
  archive: Extract<BuildClaimAnswer, { do: 'download' }>,
): Promise<Obtained | { why: string; isDamaged: boolean }> {
  const path = join(tools.cacheDir, 'building', ownName(`archive-${archive.build}`));
  const startedMs = performance.now();
  try {
    await fetchArchive({ shared, tools, archive, path, directory, python, enter });
    const ms = Math.round(performance.now() - startedMs);
    const text = `downloaded its environment: ${formatBytes(archive.bytes)} in ${formatDuration(ms)}`;
    shared.note({ code: 'ENVIRONMENT_DOWNLOADED', text });
    return { downloaded: { bytes: archive.bytes, ms }, upload: null };
  } catch (error) {
    tools.signal?.throwIfAborted();
    const why = error instanceof Error ? error.message : String(error);
    return { why, isDamaged: error instanceof DamagedArchive };
  } finally {
    await rm(path, { force: true });
  }
}

async function buildForOthers(
  { shared, tools, directory, isPinned, enter, build }: ObtainInput,
  claim: Extract<BuildClaimAnswer, { do: 'build' }>,
): Promise<Upload | null> {
  let stage: BuildStage | null = null;
  const say = (state: 'building' | 'failed' | 'too-large') =>
    shared.progress(claim.build, { claim: claim.claim, state, ...(stage === null ? {} : { stage }) });
  const enterAndSay: OnStage = (name) => {
    enter(name);
    stage = buildStages.find((one) => one === name) ?? null;
    if (stage !== null) void say('building');
  };
  const renewing = setInterval(() => void say('building'), claim.renewEveryMs);
  renewing.unref();
  const stop = (): void => clearInterval(renewing);
  const startedMs = performance.now();
  try {
    await build(enterAndSay);
    const buildMs = Math.round(performance.now() - startedMs);
    // Packed before a user's first program can change it.
    return await packForOthers({ shared, tools, directory, claim, isPinned, buildMs, say, stop, enter: enterAndSay });
  } catch (error) {
    stop();
    if (tools.signal?.aborted !== true) await say('failed');
    throw error;
  }
}
