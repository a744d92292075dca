// The metadata service of an EC2 instance, version 2 only: instance facts, user data, notices. Only the session token is cached
// here.
import { setTimeout as sleep } from 'node:timers/promises';

export interface Metadata {
  /** null when the entry does not exist; rejects when the service does not answer after some tries. */
  read(path: string): Promise<string | null>;
}

export const defaultMetadataEndpoint = 'http://169.254.169.254';

const tokenSeconds = 21_600;
const attempts = 5;
const firstPauseMs = 200;
/** The service is on the same host, so a longer wait is an outage. */
const attemptTimeoutMs = 2_000;

export function createMetadata(endpoint: string = defaultMetadataEndpoint): Metadata {
  const base = endpoint.replace(/\/+$/, '');
  let token: Promise<string> | null = null;
  const once = async (path: string): Promise<string | null> => {
    const session = (token ??= newToken(base));
    const response = await session
      .then((value) => ask(`${base}/${path}`, { headers: { 'x-aws-ec2-metadata-token': value } }))
      .catch((error: unknown) => {
        token = null;
        throw error;
      });
    const text = await response.text();
    if (response.status === 404) return null;
    if (response.ok) return text;
    // The session may have expired; the next try begins another.
    if (response.status === 401) token = null;
    throw new Error(`the metadata service answered ${response.status} for ${path}`);
  };
  return {
    read: async (path) => {
      for (let attempt = 1; ; attempt += 1) {
        try {
          return await once(path);
        } catch (error) {
          if (attempt >= attempts) throw new Error(`The instance's metadata cannot be read: ${path}`, { cause: error });
        }
        await sleep(firstPauseMs * 2 ** (attempt - 1));
      }
    },
  };
}

async function newToken(base: string): Promise<string> {
  const headers = { 'x-aws-ec2-metadata-token-ttl-seconds': String(tokenSeconds) };
  const response = await ask(`${base}/latest/api/token`, { method: 'PUT', headers });
  const text = await response.text();
  if (!response.ok) throw new Error(`the metadata service answered ${response.status} when asked for a token`);
  return text;
}

const ask = (url: string, init: RequestInit): Promise<Response> =>
  fetch(url, { ...init, signal: AbortSignal.timeout(attemptTimeoutMs) });
