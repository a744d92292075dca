// Workflows for workflow-vm.test.ts.
import { sleep } from '@temporalio/workflow';

export async function endless(): Promise<void> {
  await Promise.resolve();
  for (;;);
}

export async function turns(sleeps: number): Promise<void> {
  for (let nth = 0; nth < sleeps; nth += 1) await sleep(1_000);
}
