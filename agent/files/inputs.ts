// A job's input files on this instance: each content is downloaded once, and copied into the directory of each attempt, so no
// task can change another's input.
import { constants } from 'node:fs';
import { chmod, copyFile, mkdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';

import { isFilePath } from '../../domain/file-path.ts';
import type { StoredFile } from '../../schema/files.ts';
import { InstanceFault, orInstanceFault } from '../processes/instance-fault.ts';
import { mapAtOnce } from '../../domain/map-at-once.ts';
import { MissingFile, type Transfers, transfersAtOnce } from './transfers.ts';

/** Puts all of them into a directory. Rejects with an InstanceFault where this instance could not get or store them. */
export type PlaceInputs = (directory: string, signal: AbortSignal) => Promise<void>;

export function createInputs(files: readonly StoredFile[], transfers: Transfers, cache: string): PlaceInputs {
  let downloaded: Promise<void> | null = null;
  const contents = [...new Map(files.map((file) => [file.sha256, file])).values()];
  const download = async (signal: AbortSignal): Promise<void> => {
    await mkdir(cache, { recursive: true, mode: 0o700 });
    await mapAtOnce(contents, transfersAtOnce, async ({ sha256, path }) => {
      try {
        await transfers.download({ sha256, target: join(cache, sha256) }, signal);
      } catch (error) {
        if (error instanceof MissingFile) throw new Error(`the input file ${path} is unavailable: ${error.message}`);
        throw new InstanceFault(`the input file ${path} could not be downloaded`, error);
      }
    });
  };
  return async (directory, signal) => {
    if (files.length === 0) return;
    downloaded ??= download(signal).catch((error: unknown) => {
      // The next attempt tries again.
      downloaded = null;
      throw error;
    });
    await downloaded;
    for (const { path, sha256, executable } of files) {
      if (!isFilePath(path))
        throw new Error(`the input file ${JSON.stringify(path)} would lie outside the task's directory`);
      await orInstanceFault(
        `the input file ${path} could not be written`,
        place(join(cache, sha256), join(directory, path), executable),
      );
    }
  };
}

async function place(source: string, target: string, executable: boolean): Promise<void> {
  await mkdir(dirname(target), { recursive: true });
  // File systems with copy-on-write share the blocks until one copy is changed.
  await copyFile(source, target, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE);
  await chmod(target, executable ? 0o755 : 0o644);
}
