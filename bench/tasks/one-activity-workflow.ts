// The comparison of this bench: the usual way to run tasks on Temporal, one activity each. Runs in Temporal's sandbox.
import { continueAsNew, proxyActivities } from '@temporalio/workflow';

const { nothing } = proxyActivities<{ nothing: (task: number) => Promise<void> }>({ startToCloseTimeout: '1m' });

/** Pending activities; the server allows 2,000. */
const width = 1_000;
/** The server ends a run of more than 51,200 events; each task takes six. */
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
