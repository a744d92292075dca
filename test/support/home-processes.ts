// The processes of a Ropewalk home: its stack, its instances, their tasks. Read from /proc: Linux only.
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';

import { z } from 'zod';

import { isSameProcess } from '../../providers/local/processes.ts';

const record = z.object({ name: z.string(), pid: z.number(), startTime: z.string() });

/** The stack's live children, by their records in run/. */
export async function childRecords(home: string): Promise<z.infer<typeof record>[]> {
  const files = await readdir(join(home, 'run')).catch(() => []);
  const alive = [];
  for (const file of files.filter((name) => name.endsWith('.json') && name !== 'stack.json')) {
    const text = await readFile(join(home, 'run', file), 'utf8').catch(() => null);
    const found = text === null ? null : record.parse(JSON.parse(text));
    if (found !== null && (await isSameProcess(found))) alive.push(found);
  }
  return alive;
}

/** Every living process that has this home, or an instance of it, in its environment. This process never counts. */
export async function processesOfHome(
  home: string,
): Promise<{ pid: number; command: string; instance: string | null }[]> {
  const instances = new Set(await readdir(join(home, 'instances')).catch(() => []));
  const found = [];
  for (const pid of (await readdir('/proc')).filter((name) => /^\d+$/.test(name)).map(Number)) {
    if (pid === process.pid) continue;
    const variables = (await read(pid, 'environ')).split('\0');
    const isOurs = variables.some(
      (text) =>
        text === `ROPEWALK_HOME=${home}` ||
        text.startsWith(`ROPEWALK_INSTANCE_DIR=${home}/`) ||
        (text.startsWith(instanceVariable) && instances.has(text.slice(instanceVariable.length))),
    );
    // A zombie has an empty command line and runs no more code.
    const command = isOurs ? (await read(pid, 'cmdline')).replaceAll('\0', ' ').trim() : '';
    if (command !== '') found.push({ pid, command, instance: instanceOf(variables) });
  }
  return found;
}

const instanceVariable = 'ROPEWALK_INSTANCE=';

const instanceOf = (variables: readonly string[]): string | null =>
  variables.find((text) => text.startsWith(instanceVariable))?.slice(instanceVariable.length) ?? null;

const read = (pid: number, file: string): Promise<string> => readFile(`/proc/${pid}/${file}`, 'latin1').catch(() => '');
