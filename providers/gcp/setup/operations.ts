// Changes of Compute Engine and of Service Usage return an operation; these functions wait for it.
import { GoogleRefusal } from '../refusal.ts';
import type { Calls } from './calls.ts';

interface ComputeOperation {
  name: string;
  status: string;
  region?: string;
  error?: { errors?: { code?: string; message?: string }[] };
}

/** @throws GoogleRefusal with the operation's first error. */
export async function changeCompute(
  calls: Calls,
  project: string,
  method: string,
  path: string,
  body?: object,
): Promise<void> {
  const base = `/compute/v1/projects/${project}`;
  let operation = await calls.send<ComputeOperation>('compute', method, `${base}/${path}`, body);
  // Google holds each call for up to two minutes.
  while (operation.status !== 'DONE') {
    const scope = operation.region === undefined ? 'global' : `regions/${operation.region.split('/').at(-1)}`;
    operation = await calls.send('compute', 'POST', `${base}/${scope}/operations/${operation.name}/wait`);
  }
  const [first] = operation.error?.errors ?? [];
  if (first !== undefined) throw new GoogleRefusal(200, first.code ?? '', first.message ?? '');
}

interface ServiceOperation {
  name: string;
  done?: boolean;
  error?: { status?: string; message?: string };
}

export async function enableService(calls: Calls, project: string, service: string): Promise<void> {
  const path = `/v1/projects/${project}/services/${service}.googleapis.com:enable`;
  let operation = await calls.send<ServiceOperation>('serviceusage', 'POST', path, {});
  for (let attempt = 1; operation.done !== true; attempt += 1) {
    await calls.pause(attempt);
    operation = await calls.send('serviceusage', 'GET', `/v1/${operation.name}`);
  }
  const { error } = operation;
  if (error !== undefined) throw new GoogleRefusal(200, error.status ?? '', error.message ?? '');
}
