// Records the history of a job's cluster on EC2 whose only instance dies before it has taken a task: only the API misses it, two
// minutes after it registered.
import { randomId } from '../../platform/ids.ts';
import { bootInstances } from '../../bench/ec2/machines.ts';
import { createClient } from '../../sdk/client.ts';
import { clusterWorkflowId } from '../../contracts/cluster.ts';
import { startEc2Stack } from '../support/ec2-stack.ts';
import { eventually } from '../support/eventually.ts';
import { connectTemporal, saveHistory } from './history-files.ts';

export async function recordEc2(): Promise<void> {
  const ec2 = await startEc2Stack({ machines: false });
  const { emulator, stack } = ec2;
  try {
    const { server, close } = await connectTemporal(stack);
    const client = createClient({ apiUrl: stack.apiUrl, token: stack.token });
    const { number } = await client.jobs.create({ command: ['true'], ntasks: 1, vmTypes: ['m6i.large'] });
    const [boot] = await bootInstances(emulator, number, 1);
    if (boot === undefined) throw new Error('nothing was launched');
    const { instance, identity, launchToken } = boot;
    const known = { instance, identity, bootId: randomId('boot'), address: '10.0.0.7', version: '0.1.0', pid: 42 };
    const register = async (): Promise<boolean> => {
      const headers = { authorization: `Bearer ${launchToken}`, 'content-type': 'application/json' };
      const body = JSON.stringify(known);
      return (await fetch(`${stack.apiUrl}/v1/agent/register`, { method: 'POST', headers, body })).ok;
    };
    await eventually(async () => (await register()) || null);
    await emulator.send({ op: 'die', id: instance });
    const successor = async () => (await emulator.ledger()).live.some((id) => id !== instance) || null;
    await eventually(successor, { timeoutMs: 200_000 });
    await client.jobs.cancel(number);
    await client.jobs.wait(number);
    await eventually(async () => (await emulator.ledger()).live.length === 0 || null);
    await eventually(async () => {
      const { status } = await server.workflow.getHandle(clusterWorkflowId(number)).describe();
      return status.name === 'COMPLETED' || null;
    });
    await saveHistory(server, clusterWorkflowId(number), 'cluster-misses-an-instance');
    await close();
  } finally {
    await ec2.stop();
  }
}
