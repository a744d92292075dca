// The files of one task attempt: its inputs, copies of its output streams, and its output files. Without files each of these
// does nothing.
import { open, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';

import type { Bundle } from '../../schema/agent.ts';
import type { Session } from '../api-client/session.ts';
import type { LineSink } from '../logs/lines.ts';
import { snapshot, type Snapshot } from './collect.ts';
import { createInputs } from './inputs.ts';
import { removeAll, storeOutput } from './output.ts';
import type { Transfers } from './transfers.ts';

export interface AttemptFiles {
  /** Copies into the attempt's directory, which exists. */
  placeInputs: (signal: AbortSignal) => Promise<void>;
  /** Records the directory's content before the command starts. */
  begin: () => Promise<void>;
  tee: Pick<LineSink, 'raw'>;
  /** Rejects when they could not be stored. */
  keep: (signal: AbortSignal) => Promise<void>;
  cleanUp: () => Promise<void>;
}

interface Attempt {
  grant: { task: number; taskId: number; attempt: number };
  cwd: string;
  /** Lines of the task's log. */
  say: (text: string) => void;
}

/** Output beyond this is only in the task's log. */
const maxPrintedBytes = 1024 ** 3;

export function createTaskFiles(input: {
  bundle: Pick<Bundle, 'inputFiles' | 'output'>;
  session: Session;
  transfers: Transfers;
  /** The instance's directory. */
  directory: string;
}): (attempt: Attempt) => AttemptFiles {
  const { session, transfers, directory } = input;
  const { inputFiles, output } = input.bundle;
  const placeInputs = createInputs(inputFiles, transfers, join(directory, 'input-files'));
  return ({ grant, cwd, say }) => {
    const { task, taskId, attempt } = grant;
    const printed = output?.pipe === true ? printedFiles(`${cwd}.printed`, taskId, say) : null;
    let before: Snapshot = new Map();
    return {
      placeInputs: (signal) => placeInputs(cwd, signal),
      begin: async () => {
        if (output !== null) before = await snapshot(cwd);
        await printed?.open();
      },
      tee: printed === null ? {} : { raw: printed.write },
      keep: async (signal) => {
        if (output === null) return;
        await printed?.close();
        const of = { task, taskId, attempt };
        const extra = printed?.files ?? [];
        await storeOutput({ session, transfers, directory: cwd, before, attempt: of, extra, say, signal });
      },
      cleanUp: async () => {
        await printed?.close();
        await removeAll(printed?.files.map(({ source }) => source) ?? []);
      },
    };
  };
}

/** Stored beside the task's directory, where the task does not see them. */
function printedFiles(base: string, taskId: number, say: (text: string) => void) {
  const streams = ['stdout', 'stderr'] as const;
  const handles = new Map<string, { file: FileHandle; bytes: number }>();
  const files = streams.map((stream) => ({
    path: `task-${taskId}.${stream === 'stdout' ? 'out' : 'err'}`,
    source: `${base}-${stream}`,
  }));
  return {
    files,
    open: async (): Promise<void> => {
      for (const [index, stream] of streams.entries()) {
        // An earlier preparation attempt may have left an open file.
        await handles.get(stream)?.file.close();
        handles.set(stream, { file: await open(files[index]?.source ?? '', 'w', 0o600), bytes: 0 });
      }
    },
    write: async (stream: string, bytes: Uint8Array): Promise<void> => {
      const handle = handles.get(stream);
      if (handle === undefined || handle.bytes >= maxPrintedBytes) return;
      handle.bytes += bytes.byteLength;
      try {
        await handle.file.appendFile(bytes);
        if (handle.bytes >= maxPrintedBytes)
          say(`The file of its ${stream} is full at 1 GiB: the rest is in the log only.`);
      } catch (error) {
        handle.bytes = maxPrintedBytes;
        say(`The file of its ${stream} ends here: ${error instanceof Error ? error.message : String(error)}.`);
      }
    },
    close: async (): Promise<void> => {
      for (const [stream, { file }] of handles) {
        handles.delete(stream);
        await file.close();
      }
    },
  };
}
