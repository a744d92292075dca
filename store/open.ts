// Opens the database of records: SQLite in a file, or PostgreSQL when a URL is set.
import { createApprovalStore } from './approvals.ts';
import type { Database } from './database.ts';
import { createAdmissionStore } from './admissions.ts';
import { createCloudCheckStore } from './cloud-checks.ts';
import { createCommandStore } from './commands.ts';
import { createBudgetStore } from './budgets.ts';
import { createCostStore } from './costs.ts';
import { createDeploymentStore } from './deployment.ts';
import { createEnvironmentStore } from './environments.ts';
import { createHistoryStore } from './history.ts';
import { createIdentityStore } from './identities.ts';
import { createLivenessStore } from './liveness.ts';
import { createLoginStore } from './logins.ts';
import { createMailLinkStore } from './mail-links.ts';
import { prepareSchema } from './migrate.ts';
import { createNotificationStore } from './notifications.ts';
import { createPeopleStore } from './people.ts';
import { openPostgres } from './postgres/database.ts';
import { createQuotaStore } from './quotas.ts';
import { createRecordStore } from './records.ts';
import { openSqliteFile, openSqliteMemory } from './sqlite/database.ts';
import { createScheduleStore } from './schedules.ts';
import { createSharedBuildStore } from './shared-builds.ts';
import type { Store } from './store.ts';
import { createWorkspaceStore } from './workspaces.ts';

/**
 * `url` is PostgreSQL's; null: SQLite in `file`, which is created with mode 0600. `migrate` creates or updates the tables;
 * without it, an outdated database is a CONFLICT. Throws UNAVAILABLE while the database cannot be reached.
 */
export async function openStore(options: { url: string | null; file: string; migrate: boolean }): Promise<Store> {
  const { url, file, migrate } = options;
  return prepared(url === null ? await openSqliteFile(file) : openPostgres(url), migrate);
}

/** An empty store for tests, discarded when it is closed. `now` is the clock of its database. */
export const openMemoryStore = (now?: () => number): Promise<Store> => prepared(openSqliteMemory(now), true);

async function prepared(database: Database, migrate: boolean): Promise<Store> {
  try {
    await prepareSchema(database, { migrate });
  } catch (error) {
    await database.close();
    throw error;
  }
  return createStore(database);
}

const createStore = (database: Database): Store => ({
  deployment: createDeploymentStore(database),
  workspaces: createWorkspaceStore(database),
  people: createPeopleStore(database),
  logins: createLoginStore(database),
  identities: createIdentityStore(database),
  mailLinks: createMailLinkStore(database),
  admissions: createAdmissionStore(database),
  jobs: createRecordStore(database, 'job'),
  clusters: createRecordStore(database, 'cluster'),
  quotas: createQuotaStore(database),
  commands: createCommandStore(database),
  liveness: createLivenessStore(database),
  costs: createCostStore(database),
  history: createHistoryStore(database),
  environments: createEnvironmentStore(database),
  sharedBuilds: createSharedBuildStore(database),
  notifications: createNotificationStore(database),
  budgets: createBudgetStore(database),
  approvals: createApprovalStore(database),
  cloudChecks: createCloudCheckStore(database),
  schedules: createScheduleStore(database),
  ping: async () => {
    await database.read((db) => db.selectFrom('deployment').select('next_number').execute());
  },
  close: () => database.close(),
});
