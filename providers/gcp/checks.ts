// Requirements for launching on Compute Engine; `ropewalk doctor` checks all of them.
import { RopewalkError } from '../../domain/errors.ts';
import { type Environment, notTriedWithout, type ProviderCheck } from '../manifest.ts';
import { isLoopback } from '../reachable.ts';
import type { GcpAccess } from './settings.ts';
import type { GcpFile } from './settings-file.ts';

/** Whether Google Cloud accepts the credentials of this process and lets them list Ropewalk's instances. */
export const credentialsCheck = (file: GcpFile, access: GcpAccess): ProviderCheck => ({
  name: 'gcp credentials',
  run: async (signal) => {
    const { createGcpClients } = await import('./clients.ts');
    const { listDeployment } = await import('./describe.ts');
    const { messageOf } = await import('./api-errors.ts');
    try {
      // Without an answer, Google's client retries a list for ten minutes.
      await Promise.race([listDeployment(createGcpClients(file, access), 'doctor'), timeLimit(signal)]);
      return `instances of project ${file.project} can be listed`;
    } catch (cause) {
      const message = `Google Cloud does not let this process list instances: ${messageOf(cause)}`;
      const hint =
        'Give it what the API and the Temporal workers have: GOOGLE_APPLICATION_CREDENTIALS, `gcloud auth application-default login`, or a service account (docs/gcp.md).';
      throw new RopewalkError({ code: 'UNAVAILABLE', message, hint }, { cause });
    }
  },
});

const timeLimit = (signal: AbortSignal): Promise<never> =>
  new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason), { once: true }));

/** Whether the keys that verify instances can be fetched. */
export const identityKeysCheck = (keysUrl: string): ProviderCheck => ({
  name: 'gcp identity keys',
  run: async (signal) => {
    const problem = await fetch(keysUrl, { signal }).then(
      (response) => (response.ok ? null : `status ${response.status}`),
      (error: unknown) => String(error),
    );
    if (problem === null) return `keys of ${keysUrl}`;
    const message = `The keys that verify instances of Compute Engine cannot be fetched from ${keysUrl}: ${problem}`;
    throw new RopewalkError({ code: 'UNAVAILABLE', message, hint: 'Let the API reach this address.' });
  },
});

/**
 * Compute Engine instances cannot reach a loopback address; instances of an emulator on this machine can.
 *
 * @throws RopewalkError VALIDATION
 */
export function requireReachable(apiUrl: string, { endpoint }: GcpAccess): void {
  if (!isLoopback(apiUrl) || isLoopback(endpoint ?? '')) return;
  throw new RopewalkError({
    code: 'VALIDATION',
    message: `ROPEWALK_API_URL is ${apiUrl}, which is this machine only: no instance of Compute Engine could register.`,
    hint: 'Set it to an address of the API that the subnetworks of docs/gcp.md reach, for example https://ropewalk.example.com.',
  });
}

export const apiUrlCheck = (env: Environment, access: GcpAccess): ProviderCheck => ({
  name: 'gcp api url',
  run: async () => {
    const apiUrl = env['ROPEWALK_API_URL'] ?? '';
    if (apiUrl === '') return notTriedWithout(['ROPEWALK_API_URL']);
    requireReachable(apiUrl, access);
    return apiUrl;
  },
});
