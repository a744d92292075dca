// The requests of a test file for a shared service: the messages of both sides of the loopback connection.
import type { Server } from 'node:http';

import { inject } from 'vitest';
import { z } from 'zod';

declare module 'vitest' {
  interface ProvidedContext {
    /** Address of shared-services.ts, for projects that have it as their global set-up. */
    sharedServices: string;
  }
}

export const temporalRequest = z.object({ dynamicConfig: z.record(z.string(), z.number()) });

const temporalInfo = z.object({ address: z.string(), namespace: z.string(), workflowBundle: z.string() });
export type SharedTemporalInfo = z.infer<typeof temporalInfo>;

const stackInfo = z.object({
  apiUrl: z.string(),
  token: z.string(),
  home: z.string(),
  temporalAddress: z.string(),
  namespace: z.string(),
});
export type SharedStackInfo = z.infer<typeof stackInfo>;

export const askForTemporal = (request: z.infer<typeof temporalRequest>): Promise<SharedTemporalInfo> =>
  ask('/temporal', request, temporalInfo);

export const askForStack = (): Promise<SharedStackInfo> => ask('/stack', {}, stackInfo);

async function ask<T>(path: string, body: object, schema: z.ZodType<T>): Promise<T> {
  const response = await fetch(`${inject('sharedServices')}${path}`, { method: 'POST', body: JSON.stringify(body) });
  if (!response.ok) throw new Error(`the shared service ${path} did not start: ${await response.text()}`);
  return schema.parse(await response.json());
}

export function addressOf(server: Server): string {
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the server does not listen on a port');
  return `http://127.0.0.1:${address.port}`;
}
