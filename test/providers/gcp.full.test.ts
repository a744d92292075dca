// The Compute Engine provider against the contract of all providers, on the emulated project.

import { eventually } from '../support/eventually.ts';
import { providerContract } from './contract.ts';
import { launchElsewhere, startStubbornWork, stubbornMachine } from './emulated-machines.ts';
import { freshOwner, startGcpCloud, workersRequest } from './gcp-cloud.ts';

const capacity = 3;

let planted = 0;

providerContract('gcp, emulated', async () => {
  const cloud = await startGcpCloud(stubbornMachine);
  for (const [letter, instances] of Object.entries({ a: 0, b: capacity, c: 0 }))
    await cloud.emulator.send({ op: 'capacity', pool: `n2-standard-2/us-central1-${letter}/on-demand`, instances });
  return {
    provider: cloud.provider,
    freshOwner,
    request: workersRequest,
    launchElsewhere: (request) => launchElsewhere('gcp-launch-elsewhere.ts', { options: cloud.options, request }),
    capacity,
    crash: (id) => cloud.emulator.send({ op: 'die', id }),
    startStubbornWork: (ids) => startStubbornWork(cloud.directory, ids),
    leaveBehind: async ({ deploymentId, workspace, cluster }) => {
      planted += 1;
      const labels = {
        'ropewalk-deployment': deploymentId,
        'ropewalk-workspace': workspace,
        'ropewalk-cluster': String(cluster),
      };
      return cloud.emulator.plant({ kind: 'disk', name: `disk-${planted}`, labels });
    },
    until: async (condition) => void (await eventually(condition)),
    cleanUp: () => cloud.close(),
  };
});
