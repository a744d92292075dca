// `ropewalk cost` as a user runs it: the real program against a real HTTP server that stands in for the API.
import { describe, expect, it } from 'vitest';

import { callCli } from './call-cli.ts';
import { standIn } from './stand-in.ts';

const amounts = { dollars: 1.255, instanceHours: 13.07, instances: 3, dollarsPerHour: 0.096 };
const costs = {
  ...{ by: 'job', since: '2024-11-01T00:00:00.000Z', until: '2024-11-18T17:00:00.000Z', total: amounts },
  items: [
    { key: '7', name: '=cmd("x"), y', ...amounts },
    { key: '', name: 'clusters (no job)', ...amounts, dollars: 0.001, dollarsPerHour: 0 },
  ],
  priceSources: ['spot price of us-east-1a at its launch'],
};

describe('ropewalk cost', () => {
  it('asks for a grouping and a time, and prints a table with where prices come from', async () => {
    const { api, env } = await standIn(() => ({ json: costs }));
    const words = ['cost', '--by', 'job', '--since', '2024-11-01T00:00Z', '--user', 'ada'];
    const { code, stdout, stderr } = await callCli(words, { env });
    expect([code, stderr]).toEqual([0, 'Prices: spot price of us-east-1a at its launch\n']);
    expect(api.requests[0]).toMatchObject({
      path: '/v1/costs',
      query: { by: 'job', since: '2024-11-01T00:00:00.000Z', user: 'ada' },
    });
    expect(stdout).toMatch(/7 +│ =cmd\("x"\), y +│ +3 │ +13\.07 │ +\$1\.25|\$1\.26/);
    expect(stdout).toContain('<$0.01');
    expect(stdout).toMatch(/total/);
  });

  it('prints CSV that no spreadsheet takes for a formula, and JSON', async () => {
    const { env } = await standIn(() => ({ json: costs }));
    const { stdout } = await callCli(['cost', '--by', 'job', '--format', 'csv'], { env });
    expect(stdout.split('\n').slice(0, 2)).toEqual([
      'job,name,instances,instance_hours,dollars,dollars_per_hour_now',
      '7,"\'=cmd(""x""), y",3,13.07,1.255,0.096',
    ]);
    const json = await callCli(['cost', '--format', 'json'], { env });
    expect(JSON.parse(json.stdout)).toEqual(costs);
    expect((await callCli(['cost', '--by', 'planet'], { env })).code).toBe(2);
  });
});
