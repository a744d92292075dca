// Watches for faults as they happen: measures how soon a killed worker's workflow answers again, and stops the API, the Temporal
// server or the life itself when a paused activity waits for it.
import { setTimeout as sleep } from 'node:timers/promises';

import { clusterMessages } from '../../../contracts/cluster.ts';
import { jobMessages } from '../../../contracts/job.ts';
import { eventually } from '../../support/eventually.ts';
import { isAlive } from '../../support/kills.ts';
import type { Bed } from './bed.ts';
import { killModes } from './faults.ts';
import type { Fault, Happened } from './faults.ts';
import { stopLife } from './lives.ts';
import type { Life } from './life.ts';

export interface Nemesis {
  watch: (life: Life) => void;
  /** For workers: from the kill to the next answered message of the same workflow. */
  messages: () => { all: number[]; alone: number[] };
  kills: { worker: number; api: number; server: number };
  stop: () => Promise<void>;
}

const checkEveryMs = 20;
/** A workflow that is stuck by the SDK's fault is reset within this: three attempts with the server's pauses, and one check. */
const giveUpAfterMs = 90_000;
/** A kill this shortly before another one, or during its recovery, affects the other's measurement. */
const aloneMs = 5_000;

export function startNemesis(bed: Bed): Nemesis {
  const watched = new Map<string, { life: Life; fault: Fault }>();
  const seen = new Set<string>();
  const killedAt: number[] = [];
  const recovered: { fromMs: number; toMs: number }[] = [];
  const kills = { worker: 0, api: 0, server: 0 };
  const busy = new Set<Promise<void>>();
  let isStopping = false;

  async function act(life: Life, fault: Fault, fired: Happened): Promise<void> {
    if (killModes.some((each) => each === fault.mode)) {
      await eventually(() => !isAlive(fired.pid), { intervalMs: 5 });
      const killedAtMs = Date.now();
      kills.worker += 1;
      killedAt.push(killedAtMs);
      if (await answers(bed, life, fault)) recovered.push({ fromMs: killedAtMs, toMs: Date.now() });
    }
    if (fault.mode === 'stop') await stopLife(bed, life);
    if (fault.mode === 'api' || fault.mode === 'server') {
      const pid = (await bed.stack.childPids())[fault.mode === 'api' ? 'api' : 'temporal'];
      if (pid === undefined) return;
      process.kill(pid, 'SIGKILL');
      kills[fault.mode] += 1;
      killedAt.push(Date.now());
    }
    bed.files.note('done', fault.id, { attempt: 0, atMs: Date.now(), pid: process.pid });
  }

  const looping = (async (): Promise<void> => {
    for (; !isStopping; await sleep(checkEveryMs)) {
      for (const id of bed.files.listFired()) {
        const found = watched.get(id);
        const fired = seen.has(id) ? null : bed.files.read('fired', id);
        if (found === undefined || fired === null) continue;
        seen.add(id);
        const acting = act(found.life, found.fault, fired).catch((error: unknown) => {
          bed.violations.push(`${id}: ${String(error)}`);
        });
        busy.add(acting);
        void acting.finally(() => busy.delete(acting));
      }
    }
  })();
  return {
    watch: (life) => {
      for (const fault of life.faults) watched.set(fault.id, { life, fault });
    },
    messages: () => {
      const isAlone = ({ fromMs, toMs }: { fromMs: number; toMs: number }): boolean =>
        killedAt.filter((atMs) => atMs > fromMs - aloneMs && atMs <= toMs).length === 1;
      const took = ({ fromMs, toMs }: { fromMs: number; toMs: number }): number => toMs - fromMs;
      return { all: recovered.map(took), alone: recovered.filter(isAlone).map(took) };
    },
    kills,
    stop: async () => {
      isStopping = true;
      await looping;
      await Promise.all(busy);
    },
  };
}

/** An empty flush requires an answer and changes nothing. False when the workflow has ended, or has no such message. */
async function answers(bed: Bed, life: Life, fault: Fault): Promise<boolean> {
  const none = { sweep: null, 'stuck-workflows': null };
  const message = { job: jobMessages.exchange, cluster: clusterMessages.report, ...none }[fault.kind];
  if (message === null) return false;
  const handle = bed.temporal.workflow.getHandle(`${fault.kind}/${life.key}`);
  const deadlineMs = Date.now() + giveUpAfterMs;
  try {
    await bed.temporal.withDeadline(deadlineMs, async () => {
      // A reset closes the queried run; the next run answers. The API finds that out in the same way.
      for (;;) {
        try {
          return await handle.executeUpdate(message, { args: [{ items: [] }] });
        } catch (error) {
          if (!/aborted by closing workflow/i.test(String(error)) || Date.now() > deadlineMs) throw error;
        }
        await sleep(checkEveryMs);
      }
    });
    return true;
  } catch (error) {
    const { status } = await handle.describe().catch(() => ({ status: { name: 'UNKNOWN' } }));
    if (status.name === 'RUNNING')
      throw new Error(`no answer after a kill at ${fault.id}: ${String(error)}`, { cause: error });
    return false;
  }
}
