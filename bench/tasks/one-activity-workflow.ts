// What this bench compares with: the usual way to run tasks on Temporal, an activity for each. Runs in Temporal's sandbox.
import { continueAsNew, proxyActivities } from '@temporalio/workflow';

const { nothing } = proxyActivities<{ nothing: (task: number) => Promise<void> }>({ startToCloseTimeout: '1m' });

/** Pending at a time: the server takes 2,000. */
const width = 1_000;
/** A run of more than 51,200 events is ended by the server; each task takes six. */
const perRun = 5_000;

export async function oneActivityPerTask(input: { from: number; to: number }): Promise<void> {
  const end = Math.min(input.to, input.from + perRun);
  let next = input.from;
  const lane = async (): Promise<void> => {
    while (next < end) {
      const task = next;
      next += 1;
      await nothing(task);
    }
  };
  await Promise.all(Array.from({ length: width }, lane));
  if (end < input.to) await continueAsNew<typeof oneActivityPerTask>({ from: end, to: input.to });
}
