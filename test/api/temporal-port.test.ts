// The errors of Temporal's client and their meaning for the API. A workflow that continues as new counts as open throughout.
import {
  Client,
  Connection,
  QueryRejectedError,
  ServiceError,
  WorkflowExecutionAlreadyStartedError,
} from '@temporalio/client';
import { afterAll, describe, expect, it, vi } from 'vitest';

import { startOf } from '../../contracts/start.ts';
import { createTemporalPort } from '../../services/temporal-port.ts';

const status = { completed: 2, continuedAsNew: 6 } as const;
const connection = Connection.lazy({ address: '127.0.0.1:1' });
afterAll(() => connection.close());

describe('a query', () => {
  it('is repeated to the next run when its run continued as new', async () => {
    const { port, query } = portWith(() => query.mock.calls.length > 2 || rejected(status.continuedAsNew));
    expect(await port.query('job/1', 'view')).toEqual({ kind: 'value', value: true });
    expect(query).toHaveBeenCalledTimes(3);
  });

  it('to an ended workflow answers that it is closed', async () => {
    const { port } = portWith(() => rejected(status.completed));
    expect(await port.query('job/1', 'view')).toEqual({ kind: 'closed' });
  });

  it('is repeated a bounded number of times', async () => {
    const { port } = portWith(() => {
      vi.advanceTimersByTime(100);
      return rejected(status.continuedAsNew);
    });
    vi.useFakeTimers();
    try {
      await expect(port.query('job/1', 'view')).rejects.toMatchObject({ problem: { code: 'UNAVAILABLE' } });
    } finally {
      vi.useRealTimers();
    }
  });
});

describe('an update', () => {
  it('whose workflow task failed, as it does when its run was to continue as new, may be repeated', async () => {
    const text =
      '9 FAILED_PRECONDITION: Unable to perform workflow execution update due to unexpected workflow task failure.';
    const cause = Object.assign(new Error(text), { code: 9, details: text, metadata: {} });
    const { port } = portWith(() => {
      throw new ServiceError('Workflow Update failed', { cause });
    });
    const options = { updateId: 'u', deadlineAtMs: performance.now() + 1_000 };
    expect(await port.update('job/1', 'exchange', {}, options)).toEqual({ kind: 'aborted' });
  });
});

describe('a start', () => {
  const subject = {
    kind: 'job',
    number: 7,
    workspace: 'lab',
    name: 'nightly',
    user: 'ada',
    admissionId: 'adm_7',
  } as const;
  const start = startOf({ ...subject, specRef: 'specs/x', privateToCreator: true }, 'd_1');
  const starting = (answer: () => unknown, memo: object = {}) => {
    const client = new Client({ connection });
    const started = vi.spyOn(client.workflow, 'start').mockImplementation(async () => answer() as never);
    const handle = client.workflow.getHandle('any');
    Reflect.set(handle, 'describe', async () => ({ memo }));
    vi.spyOn(client.workflow, 'getHandle').mockReturnValue(handle);
    return { started, port: createTemporalPort(client, async () => undefined) };
  };
  const exists = () => {
    throw new WorkflowExecutionAlreadyStartedError('exists', 'job/7', 'job');
  };
  const failing = (code: number) => () => {
    const cause = Object.assign(new Error(`${code} FAILED`), { code, details: '', metadata: {} });
    throw new ServiceError('Failed to start Workflow', { cause });
  };

  it('never takes an id twice, and says in the Temporal UI what is started', async () => {
    const { port, started } = starting(() => ({}));
    expect(await port.start(start)).toEqual({ kind: 'started' });
    expect(started).toHaveBeenCalledWith('job', {
      workflowId: 'job/7',
      taskQueue: 'ropewalk',
      workflowIdReusePolicy: 'REJECT_DUPLICATE',
      workflowTaskTimeout: 5_000,
      memo: { admissionId: 'adm_7', name: 'nightly', kind: 'job', owner: 'ada' },
      typedSearchAttributes: expect.arrayContaining([expect.objectContaining({ value: 'lab' })]),
      staticSummary: 'Job 7: nightly',
      staticDetails: expect.stringContaining('**ada**'),
      args: [expect.objectContaining({ number: 7, specRef: 'specs/x', privateToCreator: true, deploymentId: 'd_1' })],
    });
  });

  it.each([
    [{ admissionId: 'adm_7' }, 'adm_7'],
    [{}, null],
  ])('of an id that is taken says by which admission: %j', async (memo, admissionId) => {
    const { port } = starting(exists, memo);
    expect(await port.start(start)).toEqual({ kind: 'exists', admissionId });
  });

  it('distinguishes an outage from a request that Temporal refuses', async () => {
    for (const code of [4, 8, 14]) {
      const outage = starting(failing(code)).port.start(start);
      await expect(outage).rejects.toMatchObject({ problem: { code: 'UNAVAILABLE' } });
    }
    for (const code of [3, 5, 7]) {
      const refused = starting(failing(code)).port.start(start);
      await expect(refused).rejects.toMatchObject({ problem: { code: 'INTERNAL' } });
    }
  });
});

function rejected(code: number): never {
  throw new QueryRejectedError(code);
}

function portWith(answer: () => unknown) {
  const client = new Client({ connection });
  const query = vi.fn<() => Promise<unknown>>(async () => answer());
  const handle = client.workflow.getHandle('any');
  for (const method of ['query', 'executeUpdate']) Reflect.set(handle, method, query);
  vi.spyOn(client.workflow, 'getHandle').mockReturnValue(handle);
  return { port: createTemporalPort(client, async () => undefined), query };
}
