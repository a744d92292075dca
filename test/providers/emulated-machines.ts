// The provider contract's operations on the machines of any emulated cloud.
import { spawn } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';

import { isSameProcess, startTimeOf } from '../../providers/local/processes.ts';
import type { LaunchOutcome, LaunchRequest } from '../../providers/provider.ts';
import { fileText } from '../agent/harness.ts';
import { eventually } from '../support/eventually.ts';

/** A first process that waits for the file `work`, then starts a process of its own session that ignores TERM and HUP. */
export const stubbornMachine = `
  while [ ! -e work ]; do sleep 0.05; done
  setsid sh -c 'echo $$ > stubborn; trap "" TERM HUP; while :; do sleep 1; done' &
  while :; do sleep 1; done`;

/** `directory`: the machines' working directories, by instance. The returned function is true while any of the processes runs. */
export async function startStubbornWork(directory: string, ids: string[]): Promise<() => Promise<boolean>> {
  const pids: number[] = [];
  for (const id of ids) {
    await eventually(() =>
      writeFile(join(directory, id, 'work'), '').then(
        () => true,
        () => null,
      ),
    );
    pids.push(Number(await fileText(join(directory, id, 'stubborn'))));
  }
  const found = await Promise.all(pids.map(async (pid) => ({ pid, startTime: (await startTimeOf(pid)) ?? 'never' })));
  return async () => (await Promise.all(found.map(isSameProcess))).includes(true);
}

/** One launch by another process, whose script is beside this file. */
export async function launchElsewhere(
  script: string,
  input: { options: object; request: LaunchRequest },
): Promise<LaunchOutcome> {
  const path = fileURLToPath(new URL(script, import.meta.url));
  const child = spawn(process.execPath, [path], { stdio: ['pipe', 'pipe', 'inherit'] });
  child.stdin.end(JSON.stringify(input));
  return JSON.parse(await text(child.stdout));
}
