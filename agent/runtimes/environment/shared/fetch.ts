// Downloads an archive, compares its hash with the control plane's record, and unpacks it.
import { mkdir, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import type { BuildClaimAnswer } from '../../../../schema/shared-builds.ts';
import { OtherContent, receiveFile, type Place } from '../../../files/http-file.ts';
import type { StageName } from '../stages.ts';
import { runTool, type Tools } from '../run-tool.ts';
import { unpackDirectory } from './archive.ts';
import type { SharedBuilds } from './port.ts';

/** Its bytes differ from the stored ones, or are not an environment of this platform. */
export class DamagedArchive extends Error {}

export interface FetchInput {
  shared: SharedBuilds;
  tools: Tools;
  archive: Extract<BuildClaimAnswer, { do: 'download' }>;
  /** The temporary file, which does not exist yet. */
  path: string;
  /** Exists and is empty. */
  directory: string;
  /** A program in the archive that must run. */
  python: string;
  enter: (name: StageName) => void;
}

/** Rejects with a DamagedArchive, or with why the archive cannot be fetched. */
export async function fetchArchive(input: FetchInput): Promise<void> {
  const { shared, tools, archive, path, directory, python, enter } = input;
  enter('fetch');
  await mkdir(dirname(path), { recursive: true });
  const { build, sha256, url } = archive;
  const place = (): Place => (url === null ? shared.place(build, sha256) : { url, headers: {} });
  await download(path, { sha256, place, signal: tools.signal });
  enter('unpack');
  try {
    await unpackDirectory(tools, path, { directory, maxBytes: archive.unpackedBytes });
  } catch (error) {
    tools.signal?.throwIfAborted();
    if (isLocalTrouble(error)) throw error;
    throw new DamagedArchive(`it cannot be unpacked: ${error instanceof Error ? error.message : String(error)}`);
  }
  const answered = await runTool(tools, python, ['-I', '-c', ''], { timeoutMs: 30_000 });
  if (!answered.ok) throw new DamagedArchive(`its Python does not run: ${answered.failure.said}`);
}

const attempts = 4;
const firstPauseMs = 500;

async function download(
  path: string,
  { sha256, place, signal }: { sha256: string; place: () => Place; signal: AbortSignal | undefined },
): Promise<void> {
  const never = new AbortController().signal;
  for (let attempt = 1; ; attempt += 1) {
    try {
      await rm(path, { force: true });
      return await receiveFile(path, sha256, place(), signal ?? never);
    } catch (error) {
      signal?.throwIfAborted();
      const isOther = error instanceof OtherContent;
      // A proxy may have answered once.
      if (attempt === (isOther ? 2 : attempts)) {
        if (isOther) throw new DamagedArchive('its SHA-256 is not the recorded one', { cause: error });
        throw new Error(`its archive cannot be fetched: ${error instanceof Error ? error.message : String(error)}`, {
          cause: error,
        });
      }
      await sleep(firstPauseMs * 2 ** attempt, undefined, signal === undefined ? {} : { signal });
    }
  }
}

/** A problem of this instance's disk or programs, not of the archive. */
const isLocalTrouble = (error: unknown): boolean =>
  error instanceof Error &&
  (/No space left|Disk quota/.test(error.message) || ('code' in error && error.code === 'ENOENT'));
