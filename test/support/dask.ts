// Dask in tests: homes that share one cache of Python environments, and a real Dask client in a process of its own.
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

import type { Client } from '../../sdk/client.ts';
import { makeHome } from './stack.ts';

const cache = join(import.meta.dirname, '../../node_modules/.cache/ropewalk/python');

/** A home whose environments are built once for all tests. */
export async function makeDaskHome(): Promise<string> {
  const home = await makeHome();
  mkdirSync(cache, { recursive: true, mode: 0o700 });
  symlinkSync(cache, join(home, 'cache'));
  return home;
}

/** A Python with Dask, from an environment that the stack has built. Those of batch tasks are among them too. */
export function daskPython(home: string): string {
  const environments = join(home, 'cache/environments');
  const built = readdirSync(environments).filter((name) => /^[0-9a-f]{16,}$/.test(name));
  // One of modules alone has no `lib`.
  const versionsOf = (lib: string): string[] => (existsSync(lib) ? readdirSync(lib) : []);
  const withDask = built.find((name) =>
    versionsOf(join(environments, name, 'lib')).some((version) =>
      existsSync(join(environments, name, 'lib', version, 'site-packages/distributed')),
    ),
  );
  if (withDask === undefined) throw new Error(`no environment with Dask in ${environments}`);
  return join(environments, withDask, 'bin/python');
}

export interface DaskClient {
  /** Its message after connecting. */
  hello: { workers: number; address: string };
  ask: (order: Record<string, unknown>) => Promise<Record<string, unknown>>;
  close: () => Promise<void>;
}

export async function connectDask(client: Client, number: number, python: string): Promise<DaskClient> {
  const { schedulerAddress, ca, certificate, key } = await client.clusters.credentials(number);
  const directory = mkdtempSync(join(tmpdir(), 'ropewalk-dask-client-'));
  const file = (name: string, text: string): string => {
    writeFileSync(join(directory, name), text, { mode: 0o600 });
    return join(directory, name);
  };
  const child = spawn(python, [join(import.meta.dirname, 'dask_client.py')], {
    stdio: ['pipe', 'pipe', 'pipe'],
    env: {
      PATH: process.env['PATH'],
      HOME: directory,
      DASK_SCHEDULER_ADDRESS: schedulerAddress,
      DASK_DISTRIBUTED__COMM__REQUIRE_ENCRYPTION: 'True',
      DASK_DISTRIBUTED__COMM__TLS__CA_FILE: file('ca.pem', ca),
      DASK_DISTRIBUTED__COMM__TLS__CLIENT__CERT: file('client.pem', certificate),
      DASK_DISTRIBUTED__COMM__TLS__CLIENT__KEY: file('client-key.pem', key),
    },
  });
  const conversation = converse(child);
  const close = async (): Promise<void> => {
    child.kill('SIGKILL');
    await conversation.exited;
    rmSync(directory, { recursive: true, force: true });
  };
  try {
    const { workers, address } = await conversation.next();
    return {
      hello: { workers: Number(workers), address: String(address) },
      ask: (order) => {
        child.stdin?.write(`${JSON.stringify(order)}\n`);
        return conversation.next();
      },
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

/** Answers in order; the end of the process rejects pending calls, with its last output. */
function converse(child: ChildProcess): { next: () => Promise<Record<string, unknown>>; exited: Promise<void> } {
  const answers: string[] = [];
  const waiting: { resolve: (line: string) => void; reject: (error: Error) => void }[] = [];
  let words = '';
  let over = false;
  child.stderr?.on('data', (chunk: Buffer) => (words = (words + chunk.toString()).slice(-3000)));
  if (child.stdout === null) throw new Error('no output');
  createInterface({ input: child.stdout }).on('line', (line) => {
    const waiter = waiting.shift();
    if (waiter === undefined) answers.push(line);
    else waiter.resolve(line);
  });
  const gone = (): Error => new Error(`the Dask client ended: ${words}`);
  const exited = new Promise<void>((resolve) =>
    child.once('close', () => {
      over = true;
      for (const waiter of waiting) waiter.reject(gone());
      resolve();
    }),
  );
  const next = async (): Promise<Record<string, unknown>> => {
    const ready = answers.shift();
    if (ready === undefined && over) throw gone();
    const line = ready ?? (await new Promise<string>((resolve, reject) => waiting.push({ resolve, reject })));
    return JSON.parse(line);
  };
  return { next, exited };
}
