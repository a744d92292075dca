// The live panel of a cluster: its contents on screens of all sizes, and the lines that remain on the terminal.
import { execFile } from 'node:child_process';
import { PassThrough } from 'node:stream';

import { describe, expect, it } from 'vitest';

import { countWorkers, formatPanel } from '../../cli/cluster-panel.ts';
import { createOutput } from '../../cli/output.ts';
import { aCluster, anInstance, aProcess } from '../sdk/stand-in-api.ts';
import { callCli } from './call-cli.ts';
import { mainFile } from './run-cli.ts';
import { standIn } from './stand-in.ts';
import { screenOf } from './terminal.ts';

const nowMs = Date.parse('2024-11-18T17:26:08.000Z');
const launched = [{ name: 'launched' as const, at: '2024-11-18T17:25:09.000Z' }];
const starting = aCluster({
  status: 'starting',
  provider: 'aws',
  region: 'us-west-2',
  cost: { dollars: 0.5, dollarsPerHour: 1.25 },
  dask: { workersWanted: 8, workersStarted: 1, workersErrored: 1 },
  instances: [
    anInstance({ role: 'head', process: aProcess({ name: 'scheduler' }) }),
    anInstance({ process: aProcess(), market: 'spot' }),
    anInstance({ process: aProcess({ state: 'pending', stage: 'environment' }) }),
    anInstance({ state: 'starting', stages: launched }),
    anInstance({ state: 'starting', stages: [] }),
    anInstance({ state: 'stopping' }),
  ],
  events: Array.from({ length: 6 }, (_, nth) => ({
    ...{ seq: nth + 1, at: '2024-11-18T17:25:11.000Z', by: null },
    code: `EVENT_${nth}`,
    text: 'happened\u001b[2J',
  })),
});
const wide = { columns: 100, rows: 40, colors: false };

describe('the panel', () => {
  it('counts the workers by state, missing and given up ones too', () => {
    expect(countWorkers(starting)).toEqual({
      ...{ Provisioning: 4, Booting: 1, Environment: 1, Starting: 0, Ready: 1, Stopping: 1, Error: 1 },
    });
  });

  it('shows overview, configuration, bars and the newest events', () => {
    const lines = formatPanel(starting, wide, nowMs);
    const text = lines.join('\n');
    expect(lines[0]).toBe('Cluster 7 (blue): starting, 1 m 0 s');
    expect(text).toMatch(/Overview +Configuration/);
    expect(text).toMatch(/Cost +about \$0\.50, \$1\.25 an hour/);
    expect(text).toMatch(/Workers +1 x m6i\.xlarge spot, 4 x m6i\.xlarge\n/);
    expect(text).toMatch(/Provider +aws, us-west-2/);
    const bars = new Map(
      lines.flatMap((line) =>
        /^ {2}(\w+) +(#*) +\d+$/.test(line) ? [[line.split(/ +/)[1], line.split('#').length - 1]] : [],
      ),
    );
    expect(bars.get('Provisioning')).toBeGreaterThan(3 * (bars.get('Ready') ?? 0));
    expect(bars.get('Ready')).toBeGreaterThan(2);
    expect(bars.get('Starting')).toBe(0);
    expect(text).toContain('EVENT_5: happened');
    expect(text).not.toContain('EVENT_1');
    expect(text).not.toContain('\u001b');
  });

  it('fits every screen, with and without colors', () => {
    for (const columns of [1, 10, 20, 40, 77, 80, 200]) {
      for (const rows of [1, 2, 10, 24, 60]) {
        const lines = formatPanel(starting, { columns, rows, colors: false }, nowMs);
        expect(lines.length).toBeLessThanOrEqual(Math.max(1, rows - 1));
        for (const line of lines) expect(line.length).toBeLessThan(Math.max(2, columns));
        const colored = formatPanel(starting, { columns, rows, colors: true }, nowMs);
        // eslint-disable-next-line no-control-regex
        expect(colored.map((line) => line.replace(/\u001b\[\d+m/g, ''))).toEqual(lines);
      }
    }
    expect(formatPanel(starting, { ...wide, colors: true }, nowMs).join('')).toContain('\u001b[32m#');
  });

  it('says why it waits, and why it ended', () => {
    const since = '2024-11-18T17:25:11.000Z';
    const waitingForCapacity = { since, nextTry: since, until: null, missing: 3, text: 'no capacity' };
    expect(formatPanel({ ...starting, waitingForCapacity }, wide, nowMs).at(-1)).toContain('no capacity');
    const reason = { code: 'IDLE', text: 'nothing was computed', at: since };
    expect(formatPanel({ ...starting, status: 'stopped', reason }, wide, nowMs).at(-1)).toBe('nothing was computed');
  });
});

describe('a terminal', () => {
  const drawOn = (environment: Record<string, string>) => {
    const stderr = Object.assign(new PassThrough(), { isTTY: true, columns: 20, rows: 10 });
    const output = createOutput(new PassThrough(), stderr, environment);
    return { output, screen: () => screenOf(String(stderr.read() ?? ''), 20) };
  };

  it('has one panel at a time, however many lines it has and however wide they are', () => {
    const { output, screen } = drawOn({});
    output.err('before');
    output.panel(['one', 'two, which is far wider than this terminal', 'three', 'four']);
    output.panel(['1', '2']);
    output.panel(['A', 'B', 'C']);
    output.keepPanel();
    output.err('after');
    expect(screen()).toEqual(['before', 'A', 'B', 'C', 'after', '']);
  });

  it('erases a panel before other output, and a line of progress before a panel', () => {
    const { output, screen } = drawOn({});
    output.progress('a line');
    output.panel(['1', '2']);
    output.err('note');
    output.panel(['3', '4']);
    output.endProgress();
    expect(screen()).toEqual(['note', '']);
  });

  it('has no panel when it is dumb, and no colors with NO_COLOR', () => {
    expect(drawOn({ TERM: 'dumb' }).output.screen()).toBeNull();
    expect(drawOn({ NO_COLOR: '1' }).output.screen()).toEqual({ columns: 20, rows: 10, colors: false });
    expect(drawOn({}).output.screen()?.colors).toBe(true);
    expect(createOutput(new PassThrough(), new PassThrough()).screen()).toBeNull();
  });
});

describe('cluster watch', () => {
  const views = [starting, aCluster(), aCluster({ status: 'stopped', endedAt: '2024-11-18T17:30:08.000Z' })];
  const watched = () => standIn((_, nth) => ({ json: views[Math.min(nth - 1, views.length - 1)] }));

  it('prints lines where there is no terminal, and the ended cluster', async () => {
    const { code, stdout, stderr } = await callCli(['cluster', 'watch', '7'], await watched());
    expect({ code, stdout }).toEqual({ code: 0, stdout: 'Cluster 7 (blue) stopped: 2 / 2 workers\n' });
    expect(stderr.split('\n').slice(0, 2)).toEqual([
      'Cluster 7 (blue) starting: 1 / 8 workers, 1 failed',
      'Cluster 7 (blue) ready: 2 / 2 workers',
    ]);
  });

  it('draws on a real terminal, and leaves the last panel there', async () => {
    const { env } = await watched();
    const program = 'import os, pty, sys; sys.exit(os.waitstatus_to_exitcode(pty.spawn(sys.argv[1:])))';
    const words = ['-c', program, process.execPath, '--', mainFile, 'cluster', 'watch', '7'];
    const home = { PATH: process.env['PATH'] ?? '', TZ: 'UTC', ROPEWALK_HOME: '/nonexistent', TERM: 'xterm' };
    const output = await new Promise<string>((done, fail) => {
      const child = execFile('python3', words, { env: { ...home, ...env } }, (error, stdout) =>
        error === null ? done(stdout) : fail(error),
      );
      child.stdin?.end();
    });
    const screen = screenOf(output);
    expect(output).toContain('\u001b[32m#');
    expect(screen.filter((line) => line.startsWith('Cluster 7 (blue): '))).toEqual([
      'Cluster 7 (blue): stopped, 5 m 0 s',
    ]);
    expect(screen.join('\n')).toMatch(/Ready +#+ 2\n/);
    expect(screen.slice(-2)).toEqual(['Cluster 7 (blue) stopped: 2 / 2 workers', '']);
  });
});
