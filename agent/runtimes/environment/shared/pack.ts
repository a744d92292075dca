// Packs an environment that this instance has built for others, and sends it while the instance begins its work.
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { formatBytes, formatDuration } from '../../../../domain/units.ts';
import type { BuildArchive, BuildClaimAnswer } from '../../../../schema/shared-builds.ts';
import { sendFile } from '../../../files/http-file.ts';
import type { StageName } from '../stages.ts';
import { ownName } from '../builder.ts';
import type { Tools } from '../run-tool.ts';
import { packDirectory, TooLarge } from './archive.ts';
import type { SharedBuilds } from './port.ts';

/** Never rejects. */
export type Upload = () => Promise<void>;

export interface PackInput {
  shared: SharedBuilds;
  tools: Tools;
  directory: string;
  claim: Extract<BuildClaimAnswer, { do: 'build' }>;
  isPinned: boolean;
  buildMs: number;
  say: (state: 'failed' | 'too-large') => Promise<void>;
  /** Ends the waits of other instances for this one. */
  stop: () => void;
  enter: (name: StageName) => void;
}

/** Null when there is nothing to send; the environment is usable here all the same. */
export async function packForOthers(input: PackInput): Promise<Upload | null> {
  const { shared, tools, directory, claim, isPinned, buildMs, say, stop, enter } = input;
  enter('pack');
  const path = join(tools.cacheDir, 'building', ownName(`archive-${claim.build}`));
  const giveUp = async (state: 'failed' | 'too-large', why: string): Promise<void> => {
    stop();
    await rm(path, { force: true });
    shared.note({ code: 'ENVIRONMENT_NOT_SHARED', text: `did not store the environment that it built: ${why}` });
    await say(state);
  };
  try {
    const packed = await packDirectory(tools, directory, { path, maxBytes: claim.maxBytes });
    const archive: BuildArchive = { claim: claim.claim, ...packed, buildMs, isPinned };
    return async () => {
      try {
        await send(shared, { build: claim.build, archive, path, signal: tools.signal });
        stop();
      } catch (error) {
        stop();
        if (tools.signal?.aborted !== true) await giveUp('failed', textOf(error));
      } finally {
        await rm(path, { force: true });
      }
    };
  } catch (error) {
    tools.signal?.throwIfAborted();
    await giveUp(error instanceof TooLarge ? 'too-large' : 'failed', textOf(error));
    return null;
  }
}

const attempts = 4;
const firstPauseMs = 500;

/** Announced before and after: the record must be complete. */
async function send(
  shared: SharedBuilds,
  {
    build,
    archive,
    path,
    signal,
  }: { build: string; archive: BuildArchive; path: string; signal: AbortSignal | undefined },
): Promise<void> {
  const never = new AbortController().signal;
  const startedMs = performance.now();
  for (let attempt = 1; ; attempt += 1) {
    const answer = await shared.announce(build, archive);
    if (answer === null) throw new Error('the control plane did not answer in time');
    if (answer.state === 'unwanted') return;
    if (answer.state === 'stored') {
      const sent = `${formatBytes(archive.bytes)} in ${formatDuration(Math.round(performance.now() - startedMs))}`;
      const text = `built the environment in ${formatDuration(archive.buildMs)}, and stored it for others: ${sent}`;
      shared.note({ code: 'ENVIRONMENT_BUILT', text });
      return;
    }
    const place =
      answer.url === null ? shared.place(build, archive.sha256) : { url: answer.url, headers: answer.headers };
    try {
      await sendFile({ path, within: null }, place, signal ?? never);
    } catch (error) {
      signal?.throwIfAborted();
      if (attempt >= attempts) throw error;
      await sleep(firstPauseMs * 2 ** attempt, undefined, signal === undefined ? {} : { signal });
    }
    if (attempt > attempts) throw new Error('the object store does not have it after the upload');
  }
}

const textOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
