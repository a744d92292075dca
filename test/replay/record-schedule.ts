// Records a run of a user's schedule. It consists of one activity: a server and a worker are enough.
import { controlQueue } from '../../contracts/flush.ts';
import { type ScheduledRunInput, scheduledRunType } from '../../contracts/scheduled-run.ts';
import { startTemporal } from '../support/temporal-server.ts';
import { saveHistory } from './history-files.ts';

export async function recordSchedule(): Promise<void> {
  const control = { noteScheduledRun: () => Promise.resolve() };
  const temporal = await startTemporal({ control, instances: control });
  try {
    const { workflow } = temporal.client;
    await workflow.execute<(input: ScheduledRunInput) => Promise<void>>(scheduledRunType, {
      ...{ workflowId: 'scheduled-run/recorded', taskQueue: controlQueue, args: [{ schedule: 'sch_recorded' }] },
    });
    await saveHistory(temporal.client, 'scheduled-run/recorded', 'scheduled-run');
  } finally {
    await temporal.stop();
  }
}
