// The contract of every database of records. Each backend runs all of it.
import { describe } from 'vitest';

import { describeAdmissions } from './contract/admissions.ts';
import { describeAdoption } from './contract/adoption.ts';
import { describeApprovals } from './contract/approvals.ts';
import { describeBudgets } from './contract/budgets.ts';
import { describeDeployment } from './contract/deployment.ts';
import { describeDeliveries } from './contract/deliveries.ts';
import { describeEnvironments } from './contract/environments.ts';
import { describeIdentities } from './contract/identities.ts';
import { describeLists } from './contract/lists.ts';
import { describeCosts } from './contract/costs.ts';
import { describeCloudChecks } from './contract/cloud-checks.ts';
import { describeHistory } from './contract/history.ts';
import { describeLiveness } from './contract/liveness.ts';
import { describeLogins } from './contract/logins.ts';
import { describeMailLinks } from './contract/mail-links.ts';
import { describeNotifications } from './contract/notifications.ts';
import { describePeople } from './contract/people.ts';
import { describeQueue } from './contract/queue.ts';
import { describeQuotas } from './contract/quotas.ts';
import { describeRecords } from './contract/records.ts';
import { describeSchedules } from './contract/schedules.ts';
import { describeSharedBuilds } from './contract/shared-builds.ts';
import { describeStarts } from './contract/starts.ts';
import { describeWorkspaces } from './contract/workspaces.ts';
import type { Backend } from './fixtures.ts';

export function describeStore(name: string, backend: Backend): void {
  describe(`the store on ${name}`, () => {
    describeDeployment(backend);
    describeWorkspaces(backend);
    describePeople(backend);
    describeLogins(backend);
    describeMailLinks(backend);
    describeIdentities(backend);
    describeAdmissions(backend);
    describeStarts(backend);
    describeQueue(backend);
    describeRecords(backend);
    describeLists(backend);
    describeAdoption(backend);
    describeQuotas(backend);
    describeCosts(backend);
    describeHistory(backend);
    describeCloudChecks(backend);
    describeEnvironments(backend);
    describeSharedBuilds(backend);
    describeBudgets(backend);
    describeApprovals(backend);
    describeLiveness(backend);
    describeNotifications(backend);
    describeDeliveries(backend);
    describeSchedules(backend);
  });
}
