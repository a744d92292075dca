// Searches for secrets outside their places: in files, processes, and a Temporal server's data, as plain text, in base64 and as
// parts of an address.
import type { Dirent } from 'node:fs';
import { readdir, readFile, readlink } from 'node:fs/promises';
import { join } from 'node:path';

import { Client, Connection } from '@temporalio/client';

export interface Hit {
  secret: string;
  place: string;
}

/** Every encoding of a secret, by the name of the secret. */
export function formsOf(secrets: Record<string, string>): [name: string, form: Buffer][] {
  return Object.entries(secrets).flatMap(([name, secret]) => {
    const bytes = Buffer.from(secret);
    // In base64 a text begins at one of three places of a group; the cut ends depend on their neighbours.
    const inBase64 = [0, 1, 2].map((shift) =>
      Buffer.concat([Buffer.alloc(shift), bytes])
        .toString('base64')
        .slice(4, -4),
    );
    const forms = [secret, encodeURIComponent(secret), bytes.toString('hex'), ...inBase64];
    return [...new Set(forms)].map<[string, Buffer]>((form) => [name, Buffer.from(form)]);
  });
}

export function findIn(forms: [string, Buffer][], content: Uint8Array | string, place: string): Hit[] {
  const bytes = Buffer.from(content);
  const found = forms.filter(([, form]) => bytes.includes(form)).map(([secret]) => secret);
  return [...new Set(found)].map((secret) => ({ secret, place }));
}

/** All regular files below a directory; links are not followed. */
export async function findInFiles(forms: [string, Buffer][], root: string, isExpected: (path: string) => boolean) {
  const hits: Hit[] = [];
  let files = 0;
  const visit = async (directory: string): Promise<void> => {
    const entries = await readdir(join(root, directory), { withFileTypes: true }).catch((): Dirent[] => []);
    for (const entry of entries) {
      const path = join(directory, entry.name);
      if (entry.isDirectory()) await visit(path);
      if (!entry.isFile() || isExpected(path)) continue;
      const content = await readFile(join(root, path)).catch(() => null);
      if (content === null) continue;
      files += 1;
      hits.push(...findIn(forms, path, `name of ${path}`), ...findIn(forms, content, path));
    }
  };
  await visit('');
  return { hits, files };
}

/** Arguments of all processes, and variables of all except those that are meant to have them. */
export async function findInProcesses(forms: [string, Buffer][], mayHave: (environ: string) => boolean) {
  const hits: Hit[] = [];
  let processes = 0;
  for (const pid of (await readdir('/proc')).filter((name) => /^\d+$/.test(name))) {
    const [cmdline, environ] = await Promise.all(
      ['cmdline', 'environ'].map((name) => readFile(`/proc/${pid}/${name}`).catch(() => Buffer.alloc(0))),
    );
    if (cmdline === undefined || environ === undefined || cmdline.length === 0) continue;
    const program = await readlink(`/proc/${pid}/exe`).catch(() => '?');
    processes += 1;
    hits.push(...findIn(forms, cmdline, `arguments of ${pid} ${program}`));
    if (!mayHave(environ.toString())) hits.push(...findIn(forms, environ, `variables of ${pid} ${program}`));
  }
  return { hits, processes };
}

/** Histories with their payloads decoded, memos and search attributes of all workflows that ever existed. */
export async function readTemporal({ address, namespace }: { address: string; namespace: string }) {
  const connection = await Connection.connect({ address });
  const texts: string[] = [];
  try {
    const client = new Client({ connection, namespace });
    for await (const execution of client.workflow.list()) {
      const { workflowId, runId, raw } = execution;
      const history = await client.workflow.getHandle(workflowId, runId).fetchHistory();
      texts.push(`${workflowId}\n${readable(raw)}\n${readable(history)}`);
    }
  } finally {
    await connection.close();
  }
  return texts;
}

const readable = (value: unknown): string =>
  JSON.stringify(value, (_key, each: unknown) => (each instanceof Uint8Array ? Buffer.from(each).toString() : each));
