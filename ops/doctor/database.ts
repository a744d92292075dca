// Checks of the database of records: its reachability, its schema version, its deployment, and the file's integrity.
import { stat } from 'node:fs/promises';
import { DatabaseSync } from 'node:sqlite';

import { Client } from 'pg';

import { RopewalkError } from '../../domain/errors.ts';
import { exists } from '../../providers/local/files.ts';
import { openStore } from '../../store/open.ts';
import { databaseName, type DatabasePlace, databasePlace } from '../database.ts';
import { findHost } from '../host.ts';
import { broken, ok, warning, type Finding, type Patient } from './finding.ts';

const initFix = 'Run: ropewalk init';
const restoreFix = 'Stop Ropewalk and restore the newest backup: docs/operations.md, "Backup and restore".';

export async function checkDatabase({ env, home }: Patient): Promise<Finding[]> {
  const place = databasePlace(env, home);
  if (place.url === null) {
    if (!(await exists(place.file))) return [warning('database', `${place.file} is not there yet`, initFix)];
    const problem = (await modeProblem(place.file)) ?? integrityProblem(place.file);
    // Opening the database would correct its mode, and hide that others could read it.
    if (problem !== null) return [problem];
  }
  return checkRecords(place, home);
}

async function checkRecords(place: DatabasePlace, home: string): Promise<Finding[]> {
  try {
    const store = await openStore({ ...place, migrate: false });
    try {
      await store.ping();
      const engine = place.url === null ? ok('database', databaseName(place)) : await versionFinding(place, place.url);
      return [engine, ownerFinding(await store.deployment.read(), home, await findHost(home))];
    } finally {
      await store.close();
    }
  } catch (error) {
    if (!(error instanceof RopewalkError)) throw error;
    return [broken('database', `${databaseName(place)}: ${error.problem.message}`, error.problem.hint ?? initFix)];
  }
}

function ownerFinding(
  database: { deploymentId: string } | null,
  home: string,
  host: { deploymentId: string } | null,
): Finding {
  if (database === null) return warning('deployment', 'the database belongs to no deployment yet', initFix);
  const { deploymentId } = database;
  if (host === null)
    return warning(
      'deployment',
      `${home} has no host.json; the database is of ${deploymentId}`,
      `Copy host.json of a host of ${deploymentId}: ropewalk init and ropewalk destroy need it.`,
    );
  if (host.deploymentId === deploymentId) return ok('deployment', deploymentId);
  return broken(
    'deployment',
    `the database belongs to ${deploymentId}, and ${home} to ${host.deploymentId}`,
    `Use the home of ${deploymentId} (its host.json), or another database.`,
  );
}

async function versionFinding(place: DatabasePlace, url: string): Promise<Finding> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    const { rows } = await client.query<{ server_version: string }>('SHOW server_version');
    return postgresFinding(databaseName(place), rows[0]?.server_version ?? '');
  } finally {
    await client.end();
  }
}

/** The oldest version that the tests have run on. */
const oldestPostgres = 15;

export function postgresFinding(name: string, version: string): Finding {
  const text = `${name}, PostgreSQL ${version}`;
  if (Number.parseInt(version, 10) >= oldestPostgres) return ok('database', text);
  return warning(
    'database',
    text,
    `Ropewalk is tested with PostgreSQL ${oldestPostgres} and newer: upgrade the server.`,
  );
}

async function modeProblem(file: string): Promise<Finding | null> {
  for (const path of [file, `${file}-wal`, `${file}-shm`]) {
    const found = await stat(path).catch(() => null);
    if (found !== null && (found.mode & 0o077) !== 0) {
      return broken('database', `other users of this machine can read ${path}`, `Run: chmod 600 ${path}`);
    }
  }
  return null;
}

/** SQLite's own check of every page, without the indexes: a second for some hundred megabytes. */
function integrityProblem(file: string): Finding | null {
  try {
    const database = new DatabaseSync(file, { readOnly: true });
    try {
      const [first] = database.prepare('PRAGMA quick_check(1)').all();
      const said = String(first?.['quick_check']);
      return said === 'ok' ? null : broken('database', `${file} is damaged: ${said}`, restoreFix);
    } finally {
      database.close();
    }
  } catch (error) {
    const text = error instanceof Error ? error.message : String(error);
    return broken('database', `${file} cannot be read: ${text}`, restoreFix);
  }
}
