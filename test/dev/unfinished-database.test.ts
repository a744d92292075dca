// Temporal's development server creates its tables only when the file is new: killed in between, it never starts on it again.
import { readdir, writeFile } from 'node:fs/promises';
import { DatabaseSync } from 'node:sqlite';

import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import { defaultConfigPath, readDevConfig } from '../../dev/config.ts';
import { type Home, openHome } from '../../dev/home.ts';
import { choosePorts } from '../../dev/ports.ts';
import { createSupervisor, type Supervisor } from '../../dev/supervisor.ts';
import { findTemporalBinary } from '../../dev/temporal-binary.ts';
import { embeddedTemporal, temporalServer } from '../../dev/temporal.ts';
import { moveUnfinishedAside } from '../../dev/unfinished-database.ts';
import { prepareNamespace } from '../../ops/init/namespace.ts';
import { makeHome, removeHome } from '../support/stack.ts';

let home: Home;
let supervisor: Supervisor;
beforeEach(async () => {
  home = await openHome(await makeHome());
  supervisor = createSupervisor({ runDir: home.runDir, say: () => undefined, onSpawn: () => undefined });
});
afterEach(async () => {
  await supervisor.stop('temporal');
  await removeHome(home.path);
});

describe('the database of a Temporal server that was killed while it made its tables', () => {
  it('is moved aside, so that the server starts on a new one', async () => {
    await startServer({});
    await supervisor.stop('temporal');
    // The file after a kill: some of the tables, and at most the namespaces of the server itself.
    change(
      "DELETE FROM namespaces WHERE name <> 'default'",
      'DELETE FROM executions',
      'DROP TABLE cluster_metadata_info',
    );
    await expect(startServer({ healthyWithinMs: 3_000 })).rejects.toThrow('no such table: cluster_metadata_info');
    await supervisor.stop('temporal');

    const aside = await moveUnfinishedAside(home.database);
    expect(aside).toMatch(/temporal\.db\.unfinished-\d+$/);
    expect((await readdir(home.path)).filter((name) => /^temporal\.db(-|$)/.test(name))).toEqual([]);
    await startServer({});
  });

  it('is moved aside when the file is empty', async () => {
    await writeFile(home.database, '');
    expect(await moveUnfinishedAside(home.database)).not.toBeNull();
    expect(await moveUnfinishedAside(home.database)).toBeNull();
  });
});

describe('a database that holds something', () => {
  it('stays where it is: one with a namespace of ours, one with a workflow, one that cannot be read', async () => {
    await startServer({ namespace: 'ropewalk' });
    await supervisor.stop('temporal');
    expect(await moveUnfinishedAside(home.database)).toBeNull();
    change("DELETE FROM namespaces WHERE name = 'ropewalk'");
    expect(await moveUnfinishedAside(home.database)).not.toBeNull();

    const { database } = await openHome(await makeHome());
    new DatabaseSync(database).exec(
      'CREATE TABLE namespaces (id BLOB, name TEXT); CREATE TABLE executions (namespace_id BLOB);' +
        "INSERT INTO namespaces VALUES (x'01', 'default'); INSERT INTO executions VALUES (x'01')",
    );
    expect(await moveUnfinishedAside(database)).toBeNull();
    await writeFile(database, 'no database at all, but maybe a file of the user');
    expect(await moveUnfinishedAside(database)).toBeNull();
    await removeHome(database.slice(0, -'/temporal.db'.length));
  });
});

async function startServer(options: { healthyWithinMs?: number; namespace?: string }): Promise<void> {
  const config = await readDevConfig(defaultConfigPath);
  const ports = await choosePorts(home.path, { temporal: 'auto', ui: 'auto', api: 'auto', dashboards: 'auto' }, true);
  const connection = embeddedTemporal(ports, config).connect();
  try {
    const binary = await findTemporalBinary({ env: process.env, say: () => undefined });
    const spec = temporalServer({ binary, home, ports, config, env: { ROPEWALK_HOME: home.path }, connection });
    await supervisor.start({ ...spec, healthyWithinMs: options.healthyWithinMs ?? spec.healthyWithinMs });
    if (options.namespace === undefined) return;
    await prepareNamespace(connection, options.namespace, { retentionDays: 30, searchAttributes: [] });
  } finally {
    await connection.close();
  }
}

function change(...statements: string[]): void {
  const database = new DatabaseSync(home.database);
  for (const statement of statements) database.exec(statement);
  database.close();
}
