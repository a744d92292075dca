// How much larger the quota lets a cluster or job become.
import { expect, it } from 'vitest';

import { explainQuota } from '../../../domain/quota/why.ts';

const use = { instances: 12, vcpus: 40 };
const workspace = { limits: { instances: 20, vcpus: 1_000 }, use };
const none = { limits: {}, use: { instances: 0, vcpus: 0 } };

it('the limit that leaves the least room counts, the user’s own too', () => {
  const asked = { user: 'ana', workspace, ofUser: none, instanceVcpus: 4 };
  expect(explainQuota(asked)).toEqual([
    {
      about: 'size',
      text: 'The quota allows 8 more instances: the workspace has reserved 12 of 20 instances.',
      facts: [
        { name: 'instances reserved', value: 12, atMs: null, events: [] },
        { name: 'instances limit', value: 20, atMs: null, events: [] },
      ],
    },
  ]);
  const ofUser = { limits: { vcpus: 45 }, use: { instances: 10, vcpus: 40 } };
  expect(explainQuota({ ...asked, ofUser })[0]?.text).toBe(
    'The quota allows 1 more instance: ana has reserved 40 of 45 vCPUs.',
  );
  expect(explainQuota({ ...asked, ofUser, instanceVcpus: 8 })[0]?.text).toBe(
    'The quota has no room for another instance: ana has reserved 40 of 45 vCPUs.',
  );
});
