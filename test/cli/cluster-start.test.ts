// A cluster's start at the command line: the awaited conditions, and the duration of each stage of its instances.
import { describe, expect, it } from 'vitest';

import { aCluster, anInstance } from '../sdk/stand-in-api.ts';
import { callCli } from './call-cli.ts';
import { standIn } from './stand-in.ts';

const at = (seconds: number): string => new Date(Date.parse('2024-11-18T17:25:08Z') + seconds * 1_000).toISOString();
const stages = (
  ...known: [name: 'requested' | 'launched' | 'running' | 'agent' | 'environment' | 'dask', at: number][]
) => known.map(([name, seconds]) => ({ name, at: at(seconds) }));

describe('cluster get', () => {
  it('shows the duration of each stage, the slowest instance first, and only stages that an instance has reached', async () => {
    const instances = [
      anInstance({ id: 'i-fast', stages: stages(['requested', 0], ['launched', 1], ['agent', 21], ['dask', 30]) }),
      anInstance({ id: 'i-slow', slot: 1, stages: stages(['requested', 0], ['launched', 2], ['agent', 152.5]) }),
      anInstance({ id: 'i-none', slot: 2 }),
    ];
    const { env } = await standIn(() => ({ json: aCluster({ instances }) }));
    const { stdout } = await callCli(['cluster', 'get', '7'], { env });
    const rows = stdout.split('\n').filter((line) => line.startsWith('│') || line.startsWith('┃'));
    expect(
      rows.map((row) =>
        row
          .split(/[│┃]/)
          .map((cell) => cell.trim())
          .slice(1, -1),
      ),
    ).toEqual([
      ['Instance', 'Role', 'Requested', 'Launch', 'Agent', 'Dask', 'Total'],
      ['i-slow', 'worker', '2024-11-18 17:25:08', '2.0 s', '2 m 31 s', '', '2 m 33 s'],
      ['i-fast', 'worker', '2024-11-18 17:25:08', '1.0 s', '20.0 s', '9.0 s', '30.0 s'],
    ]);
  });

  it('shows since when, for what and until when it waits for capacity', async () => {
    const text = 'No capacity for 2 of 3 instances; 2 x InsufficientInstanceCapacity: AWS has no m6i.xlarge';
    const waitingForCapacity = { since: at(0), nextTry: at(40), until: at(3_600), missing: 2, text };
    const { env } = await standIn(() => ({ json: aCluster({ status: 'starting', waitingForCapacity }) }));
    const { stdout } = await callCli(['cluster', 'get', '7'], { env });
    expect(stdout).toContain('waiting for capacity since 2024-11-18 17:25:08');
    expect(stdout).toContain(`until 2024-11-18 18:25:08 at the latest: ${text}`);
  });
});
