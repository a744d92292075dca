// The environment variables of each task's input: from the bundle, or from a list in the object store, which this instance downloads once. Only the
// positions of its lines are in memory.
import { createReadStream } from 'node:fs';
import { open, rm } from 'node:fs/promises';

import { z } from 'zod';

import { indicesOf } from '../../domain/job/task-set.ts';
import type { Bundle } from '../../schema/agent.ts';
import { MissingFile, type Transfers } from '../files/transfers.ts';
import { InstanceFault, orInstanceFault } from '../processes/instance-fault.ts';

/** Rejects with an InstanceFault where this instance could not get the list, with another error where the task has no input in it. */
export type TaskInputs = (index: number, signal: AbortSignal) => Promise<Record<string, string>>;

type Inputs = NonNullable<Bundle['inputs']>;
type StoredInputs = Extract<Inputs, { list: object }>;

export function createTaskInputs(inputs: Bundle['inputs'], transfers: Transfers, path: string): TaskInputs {
  if (inputs === null) return async () => ({});
  if ('variables' in inputs) return async (index) => inputs.variables[index] ?? {};
  if ('values' in inputs) return async (index) => named(inputs.names, inputs.values[index] ?? '');
  return storedInputs(inputs, transfers, path);
}

const named = (names: readonly string[], value: string): Record<string, string> =>
  Object.fromEntries(names.map((name) => [name, value]));

function storedInputs({ names, list, chosen }: StoredInputs, transfers: Transfers, path: string): TaskInputs {
  const lines = chosen === null ? null : indicesOf(chosen);
  let ends: Promise<number[]> | null = null;
  const load = async (signal: AbortSignal): Promise<number[]> => {
    try {
      await rm(path, { force: true });
      await transfers.download({ sha256: list.sha256, target: path }, signal);
    } catch (error) {
      if (error instanceof MissingFile) throw new Error(`the list of inputs is unavailable: ${error.message}`);
      throw new InstanceFault('the list of inputs could not be downloaded', error);
    }
    return orInstanceFault('the list of inputs could not be read', lineEnds(path, list.count));
  };
  return async (index, signal) => {
    ends ??= load(signal).catch((error: unknown) => {
      // The next attempt tries again.
      ends = null;
      throw error;
    });
    const known = await ends;
    const line = lines === null ? index : (lines[index] ?? list.count);
    const end = known[line];
    if (end === undefined) throw new Error(`the list of inputs has ${known.length} lines, and none for this task`);
    const from = line === 0 ? 0 : (known[line - 1] ?? 0) + 1;
    const text = await orInstanceFault('the list of inputs could not be read', readPiece(path, from, end));
    return variablesOf(names, text);
  };
}

/** The positions of the ends of the first `count` lines; the last line may have no newline. */
async function lineEnds(path: string, count: number): Promise<number[]> {
  const ends: number[] = [];
  let at = 0;
  let last = 10;
  for await (const chunk of createReadStream(path)) {
    const bytes: Buffer = chunk;
    for (let found = bytes.indexOf(10); found !== -1; found = bytes.indexOf(10, found + 1)) {
      ends.push(at + found);
      if (ends.length === count) return ends;
    }
    at += bytes.length;
    last = bytes.at(-1) ?? last;
  }
  if (last !== 10) ends.push(at);
  return ends;
}

async function readPiece(path: string, from: number, end: number): Promise<string> {
  const file = await open(path);
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(end - from), 0, end - from, from);
    return buffer.subarray(0, bytesRead).toString('utf8');
  } finally {
    await file.close();
  }
}

const variableName = z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/);
const value = z.string().refine((text) => !text.includes('\0'));
const inputLine = z.union([value, z.record(variableName, value)]);

/** The sender has checked each line; a damaged one fails its task, without the text of the line. */
function variablesOf(names: readonly string[], text: string): Record<string, string> {
  let line: z.infer<typeof inputLine>;
  try {
    line = inputLine.parse(JSON.parse(text));
  } catch {
    throw new Error('the input of this task is neither the JSON of a text nor of variables');
  }
  return typeof line === 'string' ? named(names, line) : line;
}
