// Temporal's development server creates its tables only when the database file is new. If it was killed in between, or the disk
// was full, it fails on that file at each later start. Such a file is empty: the stack moves it aside, and the server creates
// another.
import { rename } from 'node:fs/promises';
import { DatabaseSync } from 'node:sqlite';

import { errorCode, exists } from '../providers/local/files.ts';

/** The database's new path; null when it is complete, or does not exist. Only while no server runs on it. */
export async function moveUnfinishedAside(database: string): Promise<string | null> {
  if (!(await exists(database)) || !isUnfinished(database)) return null;
  const aside = `${database}.unfinished-${Date.now()}`;
  // The main file is moved last: a crash in between must not leave an old journal beside a new database.
  for (const ending of ['-shm', '-wal', '-journal', '']) {
    await rename(`${database}${ending}`, `${aside}${ending}`).catch((error: unknown) => {
      if (errorCode(error) !== 'ENOENT') throw error;
    });
  }
  return aside;
}

/** The server creates these itself at each start; the stack's own namespace is created right after its first start. */
const systemNamespace = 'temporal-system';
const serverNamespaces = ['default', systemNamespace];

/** An unreadable file does not count as unfinished, because it may contain data. */
function isUnfinished(path: string): boolean {
  try {
    const database = new DatabaseSync(path, { readOnly: true });
    try {
      return !hasNamespace(database) && !hasWorkflow(database);
    } finally {
      database.close();
    }
  } catch {
    return false;
  }
}

function hasNamespace(database: DatabaseSync): boolean {
  if (!hasTable(database, 'namespaces')) return false;
  const names = database.prepare('SELECT name FROM namespaces').all();
  return names.some(({ name }) => !serverNamespaces.includes(String(name)));
}

function hasWorkflow(database: DatabaseSync): boolean {
  if (!hasTable(database, 'executions')) return false;
  const ofServer = hasTable(database, 'namespaces')
    ? ` WHERE namespace_id NOT IN (SELECT id FROM namespaces WHERE name = '${systemNamespace}')`
    : '';
  return database.prepare(`SELECT 1 FROM executions${ofServer} LIMIT 1`).get() !== undefined;
}

const hasTable = (database: DatabaseSync, name: string): boolean =>
  database.prepare("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?").get(name) !== undefined;
