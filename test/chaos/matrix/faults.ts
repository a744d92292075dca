// The files that the kill matrix and its disturbed Temporal workers exchange in one directory: a worker that is killed in the
// next instruction can still have written one. A fault is bound to a boundary: the nth execution of an activity type in one
// workflow. Never part of the product: code outside test/ does not know these files.
import { existsSync, linkSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { z } from 'zod';

/** SIGKILL of the Temporal worker that runs the activity. */
export const killModes = ['kill before', 'kill after', 'kill answered'] as const;
/** The worker lives: the effect is repeated, or its attempt fails. */
export const softModes = ['twice', 'at once', 'fail before', 'fail after'] as const;
/** The activity waits while the matrix stops its life, the API or the Temporal server. */
export const pausedModes = ['stop', 'api', 'server'] as const;
const mode = z.enum([...killModes, ...softModes, ...pausedModes]);
export type Mode = z.infer<typeof mode>;

/** The workflow kinds of a life. */
export const faultKinds = ['job', 'cluster', 'sweep', 'stuck-workflows'] as const;

/** The nth execution of an activity type in a workflow of this kind. */
const boundary = z.object({
  kind: z.enum(faultKinds),
  activity: z.string(),
  nth: z.number().int().min(1),
});
export type Boundary = z.infer<typeof boundary>;

const fault = boundary.extend({ id: z.string(), mode });
export type Fault = z.infer<typeof fault>;

const happened = z.object({ attempt: z.number(), atMs: z.number(), pid: z.number() });
export type Happened = z.infer<typeof happened>;

export const boundaryName = ({ kind, activity, nth }: Boundary): string => `${kind}.${activity}#${nth}`;

/** The environment variable with the directory of the files. */
export const faultsVariable = 'ROPEWALK_TEST_FAULTS';
/** The environment variable with the number of workers to start. */
export const workersVariable = 'ROPEWALK_TEST_WORKERS';

export interface FaultFiles {
  /** All faults of the workflows with this number or id; null until its plan is written. */
  readPlan: (key: string) => Fault[] | null;
  writePlan: (key: string, faults: Fault[]) => void;
  /** The ordinal of this execution among those of its type, by the ids seen so far: the same in every attempt and process. */
  ordinal: (workflowId: string, activity: string, activityId: string) => number;
  /** True for one caller only, whatever is killed: a fault happens once. */
  fire: (id: string, what: Happened) => boolean;
  note: (kind: 'recovered' | 'done', id: string, what: Happened) => void;
  read: (kind: 'fired' | 'recovered' | 'done', id: string) => Happened | null;
  listFired: () => string[];
}

export function faultFiles(root: string): FaultFiles {
  for (const name of ['plans', 'seen', 'fired', 'recovered', 'done']) mkdirSync(join(root, name), { recursive: true });
  const at = (kind: string, id: string): string => join(root, kind, `${id}.json`);
  return {
    readPlan: (key) => {
      const text = readOrNull(at('plans', key));
      return text === null ? null : z.array(fault).parse(JSON.parse(text));
    },
    writePlan: (key, faults) => void publish(at('plans', key), JSON.stringify(faults)),
    ordinal: (workflowId, activity, activityId) => {
      const directory = join(root, 'seen', workflowId.replaceAll('/', '-'), activity);
      mkdirSync(directory, { recursive: true });
      writeFileSync(join(directory, activityId), '');
      const ids = readdirSync(directory).toSorted((a, b) => Number(a) - Number(b));
      return ids.indexOf(activityId) + 1;
    },
    fire: (id, what) => publish(at('fired', id), JSON.stringify(what)),
    note: (kind, id, what) => void publish(at(kind, id), JSON.stringify(what)),
    read: (kind, id) => {
      const text = readOrNull(at(kind, id));
      return text === null ? null : happened.parse(JSON.parse(text));
    },
    listFired: () => readdirSync(join(root, 'fired')).flatMap((name) => /^(.*)\.json$/.exec(name)?.[1] ?? []),
  };
}

/** Appears whole or not at all; an existing file stays. */
function publish(path: string, text: string): boolean {
  if (existsSync(path)) return false;
  const temporary = `${path}.${process.pid}-${Math.random().toString(36).slice(2)}`;
  writeFileSync(temporary, text);
  try {
    linkSync(temporary, path);
    return true;
  } catch {
    return false;
  } finally {
    rmSync(temporary, { force: true });
  }
}

function readOrNull(path: string): string | null {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return null;
  }
}
