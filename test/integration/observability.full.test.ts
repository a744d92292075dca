// A real stack, observed from the outside as an operator does: metrics of API and Temporal worker, the board that queries them,
// one trace from the request to the activity, and an API that gets SIGTERM in the middle of requests.
import { readFile } from 'node:fs/promises';
import { request } from 'node:http';

import { Client, Connection, WorkflowNotFoundError } from '@temporalio/client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';

import { jobWorkflowId } from '../../contracts/job.ts';
import { eventually } from '../support/eventually.ts';
import { startOtlpReceiver, type ReceivedSpan } from '../support/otlp-receiver.ts';
import { startStack, type TestStack } from '../support/stack.ts';

let stack: TestStack;
let collector: Awaited<ReturnType<typeof startOtlpReceiver>>;

beforeAll(async () => {
  collector = await startOtlpReceiver();
  const env = {
    ROPEWALK_METRICS_ADDRESS: '127.0.0.1:0',
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
    OTEL_BSP_SCHEDULE_DELAY: '100',
  };
  const service = { logLevel: 'info', env };
  stack = await startStack({ overrides: { api: service, worker: service } });
});
afterAll(async () => {
  await stack?.stop();
  await collector?.stop();
});

describe('metrics and traces', () => {
  it('show a job that ran, under the names that the board and the alerts ask for', async () => {
    const number = await submit('observed');
    await untilOver(number);
    const [api, worker] = await Promise.all([scrape('api'), scrape('worker')]);
    expect(api).toContain('ropewalk_http_requests_total{route="/v1/jobs",method="POST",status="201"} 1');
    expect(api).toMatch(/ropewalk_flushes_total\{update="exchange",outcome="answered"\} [1-9]/);
    expect(api).toMatch(/ropewalk_task_results_total\{outcome="ok"\} [1-9]/);
    expect(worker).toMatch(/ropewalk_activities_total\{type="launchInstances",outcome="completed"\} 1/);
    expect(worker).toMatch(/ropewalk_activity_duration_seconds_count\{type="loadJob"\} 1/);
    expect(worker).toMatch(/^temporal_worker_task_slots_available\{/m);
    const known = new Set([...`${api}\n${worker}`.matchAll(/^# TYPE (\w+) /gm)].map((match) => match[1]));
    const board = await readFile(new URL('../../ops/grafana/ropewalk.json', import.meta.url), 'utf8');
    const alerts = await readFile(new URL('../../ops/prometheus/alerts.yml', import.meta.url), 'utf8');
    const asked = askedFor(`${board}\n${alerts}`);
    expect(asked.length).toBeGreaterThan(15);
    expect(asked.filter((name) => !known.has(name))).toEqual([]);
    expect(askedFor('{"expr": "rate(ropewalk_invented_total[5m])"}').filter((name) => !known.has(name))).toHaveLength(
      1,
    );
  });

  it('show one trace from the request over the workflows to the activity that launched', async () => {
    const wanted = ['POST /v1/jobs', 'StartWorkflow:job', 'RunActivity:loadJob', 'RunActivity:launchInstances'];
    const trace = await eventually(() => {
      const [root] = collector.spans.filter(({ name }) => name === wanted[0]);
      const spans = collector.spans.filter(({ traceId }) => traceId === root?.traceId);
      return wanted.every((name) => spans.some((span) => span.name === name)) ? spans : null;
    });
    expect(new Set(trace.map(({ service }) => service))).toEqual(new Set(['ropewalk-api', 'ropewalk-worker']));
    // The workflows pass the trace on and add no spans: a replay is the same with and without tracing.
    expect(chain('RunActivity:launchInstances', trace)).toEqual([
      'RunActivity:launchInstances',
      'StartWorkflow:job',
      'POST /v1/jobs',
    ]);
    // Agents' requests begin no trace.
    expect(collector.spans.filter(({ name }) => name.includes('/v1/agent/'))).toEqual([]);
  });
});

describe('the thread of the workflows', () => {
  it('is the one that platform/workflow-vm.ts makes lighter: it takes no stack traces', async () => {
    const connection = await Connection.connect({ address: stack.temporalAddress });
    try {
      const { workflow } = new Client({ connection, namespace: stack.namespace });
      const id = jobWorkflowId(await submit('traced'));
      expect(await eventually(() => stackTraceOf(workflow, id))).toEqual({ trace: '' });
    } finally {
      await connection.close();
    }
  });
});

describe('an API that gets SIGTERM', () => {
  it('answers every request that it has taken, and what was answered is there', async () => {
    const count = 20;
    const before = (await stack.childPids())['api'];
    const draining = Promise.withResolvers<void>();
    const answers = Array.from({ length: count }, (_, index) => post(`drained-${index}`, draining.promise));
    await eventually(async () => (await scrape('api')).includes(`ropewalk_http_requests_in_flight ${count}`));
    await stack.kill('api', 'SIGTERM');
    await eventually(() => stack.output().includes('draining: open requests are finished'));
    draining.resolve();
    const created = await Promise.all(answers);
    expect(created.map(({ status }) => status)).toEqual(Array.from({ length: count }, () => 201));
    await eventually(() => stack.output().includes('"msg":"ended"'));
    await eventually(async () => {
      const now = (await stack.childPids())['api'];
      return now !== undefined && now !== before && (await fetch(`${stack.apiUrl}/readyz`)).ok;
    });
    const numbers = new Set(created.map(({ number }) => number));
    expect(numbers.size).toBe(count);
    for (const number of numbers) await untilOver(number);
  });
});

const authorization = () => ({ authorization: `Bearer ${stack.token}` });

/** On a connection of its own, because a shared one may be closing. The second half of its body is sent after `until`. */
function post(name: string, until = Promise.resolve()): Promise<{ status: number; number: number }> {
  const body = JSON.stringify({ command: ['true'], name });
  return new Promise((resolve, reject) => {
    const sent = request(
      `${stack.apiUrl}/v1/jobs`,
      {
        ...{ method: 'POST', agent: false },
        headers: { ...authorization(), 'content-type': 'application/json', 'content-length': body.length },
      },
      (response) => {
        let text = '';
        response.on('data', (chunk: Buffer) => (text += chunk.toString()));
        response.on('end', () => {
          const parsed = z.object({ number: z.number().default(0) }).parse(JSON.parse(text));
          resolve({ status: response.statusCode ?? 0, number: parsed.number });
        });
      },
    );
    sent.on('error', reject);
    sent.write(body.slice(0, body.length / 2));
    void until.then(() => sent.end(body.slice(body.length / 2)));
  });
}

/** Null before the workflow exists: the API answers before it has started it. */
async function stackTraceOf(workflow: Client['workflow'], id: string): Promise<{ trace: string } | null> {
  try {
    return { trace: await workflow.getHandle(id).query<string>('__stack_trace') };
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return null;
    throw error;
  }
}

const submit = async (name: string): Promise<number> => (await post(name)).number;

async function untilOver(number: number): Promise<void> {
  await eventually(
    async () => {
      const answer = await fetch(`${stack.apiUrl}/v1/jobs/${number}`, { headers: authorization() });
      return /"state":"done"|"status":"done"/.test(await answer.text());
    },
    { timeoutMs: 120_000 },
  );
}

/** The newest process of that name logs the address of its metrics. */
async function scrape(program: 'api' | 'worker'): Promise<string> {
  const pattern = program === 'api' ? /^api \| .*"metricsPort":(\d+)/gm : /^worker \| .*"port":(\d+),"msg":"metrics"/gm;
  const [, port = ''] = [...stack.output().matchAll(pattern)].at(-1) ?? [];
  return (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
}

function askedFor(board: string): string[] {
  const found = [...board.matchAll(/\b(?:ropewalk|temporal|nodejs|process)_[a-z0-9_]+/g)].map(([name]) => name);
  return [...new Set(found.map((name) => name.replace(/_(bucket|sum|count)$/, '')))];
}

/** The names of a span and of all above it. */
function chain(name: string, spans: readonly ReceivedSpan[]): string[] {
  const byId = new Map(spans.map((span) => [span.spanId, span]));
  const names: string[] = [];
  for (let at = spans.find((span) => span.name === name); at !== undefined; at = byId.get(at.parentSpanId ?? '')) {
    names.push(at.name);
  }
  return names;
}
