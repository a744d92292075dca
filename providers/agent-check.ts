// Checks that the API serves the agent bundle that instances download: the same file, by its hash, at the address given to
// instances.
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';

import { RopewalkError } from '../domain/errors.ts';
import { type Environment, notTriedWithout, type ProviderCheck } from './manifest.ts';

/** `provider` is the provider's name; `ca` comes from its settings. */
export const agentCheck = (provider: string, env: Environment, ca: string | null): ProviderCheck => ({
  name: `${provider} agent`,
  run: async (signal) => {
    const { ROPEWALK_API_URL: apiUrl = '', ROPEWALK_AGENT_BUNDLE: bundle = '' } = env;
    const missing = Object.entries({ ROPEWALK_API_URL: apiUrl, ROPEWALK_AGENT_BUNDLE: bundle });
    const names = missing.flatMap(([name, value]) => (value === '' ? [name] : []));
    if (names.length > 0) return notTriedWithout(names);
    const sha256 = createHash('sha256')
      .update(await readBundle(bundle))
      .digest('hex');
    const url = `${apiUrl}/v1/agent/program/${sha256}`;
    const { status, hash } = await download(url, ca, signal).catch((cause: unknown) => {
      const why = cause instanceof Error ? cause.message : String(cause);
      const hint =
        'Instances get the agent there: start the API, or correct ROPEWALK_API_URL, its certificate or apiCa.';
      throw new RopewalkError({ code: 'UNAVAILABLE', message: `${url}: ${why}`, hint }, { cause });
    });
    if (hash === sha256) return `${apiUrl} serves this agent`;
    throw new RopewalkError({
      code: 'UNAVAILABLE',
      message: `${url} answered ${status}${status === 200 ? ' with another file' : ''}: instances of this Temporal worker could not start.`,
      hint: 'Give the API the same file in ROPEWALK_AGENT_BUNDLE as the Temporal workers have (npm run build), and restart it.',
    });
  },
});

async function readBundle(path: string): Promise<Buffer> {
  try {
    return await readFile(path);
  } catch (cause) {
    const message = `ROPEWALK_AGENT_BUNDLE is ${path}, which cannot be read.`;
    throw new RopewalkError(
      { code: 'VALIDATION', message, hint: 'Run npm run build, and name dist/agent.mjs.' },
      { cause },
    );
  }
}

/** With `ca`, verifies the API as instances do: by that authority besides the default ones. */
function download(url: string, ca: string | null, signal: AbortSignal): Promise<{ status: number; hash: string }> {
  const { promise, resolve, reject } = Promise.withResolvers<{ status: number; hash: string }>();
  const isTls = url.startsWith('https:');
  const options = { signal, ...(ca === null || !isTls ? {} : { ca }) };
  const request = (isTls ? requestHttps : requestHttp)(url, options, (response) => {
    const hash = createHash('sha256');
    response.on('data', (part: Buffer) => hash.update(part));
    response.on('error', reject);
    response.on('end', () => resolve({ status: response.statusCode ?? 0, hash: hash.digest('hex') }));
  });
  request.on('error', reject);
  request.end();
  return promise;
}
