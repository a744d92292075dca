// The services that the test files of one run share: Temporal servers and one stack. Vitest calls `setup` once per project, in
// its own process. Each test file runs in another process and sends its requests over loopback HTTP. A service starts with its
// first user and ends after the last file, also when tests fail.
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import type { TestProject } from 'vitest/node';
import { z } from 'zod';

import { makeDaskHome } from './dask.ts';
import { addressOf, type SharedStackInfo, type SharedTemporalInfo, temporalRequest } from './shared-client.ts';
import { removeHome, startStack } from './stack.ts';
import { startTemporalProcess } from './temporal-process.ts';
import type { DynamicConfig, TemporalProcess } from './temporal-process.ts';

export async function setup({ provide }: Pick<TestProject, 'provide'>): Promise<() => Promise<void>> {
  const services = createSharedServices();
  const server = createServer((request, response) => void answer(services, request, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', () => resolve()));
  provide('sharedServices', addressOf(server));
  return async () => {
    server.closeAllConnections();
    server.close();
    await services.stop();
  };
}

/** Namespaces of a server exist from its start: one that is registered later is unknown for some seconds. */
const namespacesPerServer = 40;

interface SharedServices {
  temporal: (dynamicConfig: DynamicConfig) => Promise<SharedTemporalInfo>;
  stack: () => Promise<SharedStackInfo>;
  stop: () => Promise<void>;
}

function createSharedServices(): SharedServices {
  const endings: (() => Promise<void>)[] = [];
  const servers = new Map<string, Promise<{ server: TemporalProcess; free: string[] }>>();

  const startServer = async (dynamicConfig: DynamicConfig) => {
    const free = Array.from({ length: namespacesPerServer }, (_, index) => `test-${index + 1}`);
    const server = await startTemporalProcess({ namespaces: free, dynamicConfig });
    endings.push(server.stop);
    return { server, free: free.slice() };
  };

  const buildBundle = once(async () => {
    const directory = await mkdtemp(join(tmpdir(), 'ropewalk-bundle-'));
    endings.push(() => rm(directory, { recursive: true, force: true }));
    // Loaded late: a run without a Temporal test does not need the bundler.
    const { bundleWorkflows } = await import('../../ops/build.ts');
    const path = join(directory, 'workflows.cjs');
    await bundleWorkflows(path);
    return path;
  });

  const startSharedStack = once(async () => {
    const home = await makeDaskHome();
    // Several files start instances at the same time.
    const stack = await startStack({ home, overrides: { worker: { maxLocalInstances: 64 } } });
    endings.push(async () => {
      await stack.stop();
      await removeHome(home);
    });
    const { apiUrl, token, temporalAddress, namespace } = stack;
    return { apiUrl, token, home, temporalAddress, namespace };
  });

  return {
    temporal: async (dynamicConfig) => {
      const key = JSON.stringify(dynamicConfig);
      const starting = servers.get(key) ?? startServer(dynamicConfig);
      servers.set(key, starting);
      const [{ server, free }, workflowBundle] = await Promise.all([starting, buildBundle()]);
      const namespace = free.shift();
      if (namespace === undefined) throw new Error('all namespaces of the shared Temporal server are in use');
      return { address: server.address, namespace, workflowBundle };
    },
    stack: startSharedStack,
    stop: async () => {
      const failures: unknown[] = [];
      for (const end of endings.splice(0).toReversed()) await end().catch((error: unknown) => failures.push(error));
      if (failures.length > 0) throw new AggregateError(failures, 'shared services that did not end in order');
    },
  };
}

/** Concurrent callers get the same promise. */
function once<T>(start: () => Promise<T>): () => Promise<T> {
  let started: Promise<T> | null = null;
  return () => (started ??= start());
}

async function answer(services: SharedServices, request: IncomingMessage, response: ServerResponse): Promise<void> {
  try {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(z.instanceof(Buffer).parse(chunk));
    const body = Buffer.concat(chunks).toString('utf8');
    const found =
      request.url === '/temporal'
        ? await services.temporal(temporalRequest.parse(JSON.parse(body)).dynamicConfig)
        : await services.stack();
    response.end(JSON.stringify(found));
  } catch (error) {
    response.writeHead(500).end(error instanceof Error ? (error.stack ?? error.message) : String(error));
  }
}
