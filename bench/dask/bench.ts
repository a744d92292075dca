// A Dask cluster of 2 workers, from the request to the first result: Ropewalk's on a real stack, the same processes started by
// hand from the same environment with the same TLS, and LocalCluster. Rounds are interleaved; the first is not counted, because
// it builds the environment and fills all caches.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { createClient } from '../../sdk/client.ts';
import { daskPython, makeDaskHome } from '../../test/support/dask.ts';
import { removeHome, startStack } from '../../test/support/stack.ts';
import type { BenchOptions } from '../options.ts';
import type { Report } from '../report.ts';
import { runByHand, writeTls } from './by-hand.ts';
import type { HandTimes } from './by-hand.ts';
import { startDriver } from './driver.ts';
import type { Driver, FirstResult } from './driver.ts';
import { runOurs } from './ours.ts';
import type { OurTimes } from './ours.ts';

const workers = 2;

interface Round {
  ours: OurTimes;
  hand: HandTimes;
  atOnce: HandTimes;
  local: FirstResult & { asked: number };
}

export async function daskBench(report: Report, { rounds, small }: BenchOptions): Promise<void> {
  const home = await makeDaskHome();
  const directory = await mkdtemp(join(tmpdir(), 'ropewalk-bench-'));
  const stack = await startStack({ home });
  let driver: Driver | null = null;
  try {
    const client = createClient({ apiUrl: stack.apiUrl, token: stack.token });
    const first = await client.clusters.create({ workers: 0 });
    await client.clusters.waitForScheduler(first.number);
    await client.clusters.stop(first.number);
    await client.clusters.waitForEnd(first.number);
    const python = daskPython(home);
    driver = startDriver(python);
    const { apiUrl, token } = stack;
    const ours = { client, apiUrl, token, driver, workers, directory: join(directory, 'ours') };
    const hand = { python, driver, workers, directory, tls: await writeTls(join(directory, 'tls')) };
    const measured: Round[] = [];
    const count = rounds ?? (small ? 1 : 7);
    for (let round = 0; round <= count; round += 1) {
      const found = {
        ours: await runOurs(ours),
        hand: await runByHand({ ...hand, atOnce: false }),
        atOnce: await runByHand({ ...hand, atOnce: true }),
        local: await driver.local(workers),
      };
      if (round > 0) measured.push(found);
    }
    writeFigures(report, measured);
  } finally {
    await driver?.close();
    await stack.stop();
    await removeHome(home);
    await rm(directory, { recursive: true, force: true });
  }
}

function writeFigures(report: Report, rounds: Round[]): void {
  const total = (kind: keyof Round): number[] => rounds.map((round) => round[kind].result - round[kind].asked);
  report.figure('Ropewalk: request to first result', total('ours'), 'ms');
  report.figure('by hand, one after the other', total('hand'), 'ms');
  report.figure('by hand, all at once', total('atOnce'), 'ms');
  report.figure('LocalCluster, no TLS', total('local'), 'ms');
  report.ratio('Ropewalk to by hand, one after the other', total('ours'), total('hand'));
  report.ratio('Ropewalk to by hand, all at once', total('ours'), total('atOnce'));
  report.ratio('Ropewalk to LocalCluster', total('ours'), total('local'));
  const from = ours(rounds);
  report.say('stages of Ropewalk, each from the request:');
  report.figure('  request admitted', from('admitted'), 'ms');
  report.figure('  last agent launched', from('launched'), 'ms');
  report.figure('  last agent registered', from('registered'), 'ms');
  report.figure('  scheduler started', from('scheduler'), 'ms');
  report.figure('  last worker started', from('started'), 'ms');
  report.figure('  the program has its credentials', from('credentials'), 'ms');
  report.figure('  client connected', from('connected'), 'ms');
  report.figure('  both workers there', from('workers'), 'ms');
  report.figure('  first result', from('result'), 'ms');
  const hand = (key: keyof HandTimes): number[] => rounds.map(({ hand: times }) => times[key] - times.asked);
  report.say('stages by hand, one after the other:');
  report.figure('  scheduler listens', hand('scheduler'), 'ms');
  report.figure('  client connected', hand('connected'), 'ms');
  report.figure('  both workers there', hand('workers'), 'ms');
}

const ours =
  (rounds: Round[]) =>
  (key: keyof OurTimes): number[] =>
    rounds.map(({ ours: times }) => times[key] - times.asked);
