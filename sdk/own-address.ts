// Replaces `me` in the sources of ingress rules by this machine's public address. Only the client can determine it: the API may
// be reached through a proxy or a private network, the scheduler by its public address.
import type { Connection } from './connection.ts';
import { ConfigurationError } from './errors.ts';

const timeoutMs = 10_000;

interface Sources {
  allowSshFrom?: string | undefined;
  allowIngressFrom?: string | undefined;
  openPorts?: Record<string, string> | undefined;
}

/** The input with every `me` replaced. Throws ConfigurationError when the address cannot be found. */
export type ResolveSources = <T extends Sources>(input: T, signal: AbortSignal | undefined) => Promise<T>;

/** Requests the address once, and only when a request needs it. */
export function createResolveSources(connection: Pick<Connection, 'fetch' | 'addressUrl'>): ResolveSources {
  let asked: Promise<string> | null = null;
  const ownAddress = (signal: AbortSignal | undefined): Promise<string> => {
    asked ??= askAddress(connection, signal).catch((error: unknown) => {
      asked = null;
      throw error;
    });
    return asked;
  };
  const resolve = async (text: string, signal: AbortSignal | undefined): Promise<string> => {
    const address = await ownAddress(signal);
    return text
      .split(',')
      .map((source) => (source.trim() === 'me' ? address : source))
      .join(',');
  };
  return async (input, signal) => {
    const { allowSshFrom, allowIngressFrom, openPorts } = input;
    const ports: [string, string][] = [];
    for (const [port, sources] of Object.entries(openPorts ?? {}))
      ports.push([port, namesMe(sources) ? await resolve(sources, signal) : sources]);
    return {
      ...input,
      ...(namesMe(allowSshFrom) && { allowSshFrom: await resolve(allowSshFrom, signal) }),
      ...(namesMe(allowIngressFrom) && { allowIngressFrom: await resolve(allowIngressFrom, signal) }),
      ...(openPorts !== undefined && { openPorts: Object.fromEntries(ports) }),
    };
  };
}

const namesMe = (text: string | undefined): text is string =>
  text?.split(',').some((source) => source.trim() === 'me') === true;

async function askAddress(
  { fetch, addressUrl }: Pick<Connection, 'fetch' | 'addressUrl'>,
  signal: AbortSignal | undefined,
): Promise<string> {
  const why = await ask().catch((error: unknown) => ({ problem: String(error) }));
  if (typeof why === 'string') return why;
  signal?.throwIfAborted();
  throw new ConfigurationError(
    `The public address of this machine is unknown: ${addressUrl} gave no address (${why.problem}). ` +
      'Give the address instead of "me", or set ROPEWALK_ADDRESS_URL to a service that answers with it.',
  );

  async function ask(): Promise<string | { problem: string }> {
    const limit = AbortSignal.timeout(timeoutMs);
    const answer = await fetch(addressUrl, { signal: signal === undefined ? limit : AbortSignal.any([signal, limit]) });
    const text = (await answer.text()).slice(0, 100).trim();
    return answer.ok && /^[0-9A-Fa-f.:]{3,45}$/.test(text) ? text : { problem: `HTTP ${answer.status}` };
  }
}
