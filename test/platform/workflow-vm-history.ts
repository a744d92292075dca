// Histories of the workflows in workflow-vm-code.ts, as the server would write them.
import proto from '@temporalio/proto';

/** A run that sleeps `sleeps` times and completes. */
export function historyOf(type: string, sleeps = 0) {
  const events: Record<string, unknown>[] = [];
  const add = (eventType: string, attributes: Record<string, unknown>): string => {
    const eventId = String(events.length + 1);
    const name = `${eventType.replace(/_(.)/g, (_, letter: string) => letter.toUpperCase())}EventAttributes`;
    const eventTime = { seconds: Date.UTC(2026, 0, 1) / 1_000 + events.length };
    events.push({ eventId, eventTime, eventType: `EVENT_TYPE_${constant(eventType)}`, [name]: attributes });
    return eventId;
  };
  const task = (): string => {
    const scheduledEventId = add('workflowTaskScheduled', { taskQueue: { name: 'q' } });
    const startedEventId = add('workflowTaskStarted', { scheduledEventId });
    return add('workflowTaskCompleted', { scheduledEventId, startedEventId });
  };
  const payload = (value: unknown) => ({
    metadata: { encoding: Buffer.from('json/plain').toString('base64') },
    data: Buffer.from(JSON.stringify(value)).toString('base64'),
  });
  add('workflowExecutionStarted', {
    ...{ workflowType: { name: type }, taskQueue: { name: 'q' }, input: { payloads: [payload(sleeps)] } },
    ...{ originalExecutionRunId: 'run', firstExecutionRunId: 'run', attempt: 1, workflowTaskTimeout: { seconds: 2 } },
  });
  let done = task();
  for (let nth = 1; nth <= sleeps; nth += 1) {
    const timer = { timerId: String(nth) };
    const startedEventId = add('timerStarted', {
      ...timer,
      startToFireTimeout: { seconds: 1 },
      workflowTaskCompletedEventId: done,
    });
    add('timerFired', { ...timer, startedEventId });
    done = task();
  }
  add('workflowExecutionCompleted', { workflowTaskCompletedEventId: done });
  return proto.temporal.api.history.v1.History.fromObject({ events });
}

const constant = (name: string): string => name.replace(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase();
