// Checks of the API: its reachability, its readiness, the token, and its clock against this machine's.
import { z } from 'zod';

import { isLoopback } from '../../platform/environment.ts';
import { broken, ok, warning, type Finding, type Patient } from './finding.ts';

const withinMs = 5_000;
const ready = z.object({ parts: z.record(z.string(), z.string()) });

export async function checkApi({ connection }: Patient): Promise<Finding[]> {
  if ('problem' in connection) return [warning('api', connection.problem, 'Run ropewalk dev here, or ropewalk login.')];
  const { apiUrl, token } = connection;
  const health = await ask(`${apiUrl}/healthz`);
  if (health instanceof Error) {
    const fix = 'Check the address (config.yaml, ROPEWALK_API_URL), that the API runs, and what is between.';
    return [broken('api', `${apiUrl} cannot be reached: ${reasonOf(health)}`, fix)];
  }
  const ways = await signInOf(apiUrl);
  return [addressFinding(apiUrl), ...clockOf(health), await readyOf(apiUrl), await tokenOf(apiUrl, token), ...ways];
}

/** Every request and answer may contain tokens and the secrets of jobs. */
export function addressFinding(apiUrl: string): Finding {
  const { protocol, hostname } = new URL(apiUrl);
  if (protocol === 'https:' || isLoopback(hostname)) return ok('api', apiUrl);
  const what = `${apiUrl} is not https: tokens and secrets can be read on the way`;
  return warning('api', what, 'Put a proxy that ends TLS before the API (docs/security.md), and use its address.');
}

async function readyOf(apiUrl: string): Promise<Finding> {
  const answer = await ask(`${apiUrl}/readyz`);
  if (answer instanceof Error) return broken('readiness', reasonOf(answer), 'Read the log of the API.');
  const parsed = ready.safeParse(await answer.json().catch(() => null));
  const unavailable = Object.entries(parsed.data?.parts ?? {}).filter(([, state]) => state !== 'ok');
  return readinessFinding(
    answer.ok,
    unavailable.map(([name]) => name),
  );
}

/** Without Temporal an API is ready, but starts and ends nothing until Temporal answers. */
export function readinessFinding(isReady: boolean, unavailable: readonly string[]): Finding {
  const names = unavailable.join(', ');
  const fix = 'docs/operations.md, "While a part is unavailable", says what works meanwhile and what to do.';
  if (!isReady) return broken('readiness', `not ready: ${names || 'a part'} is unavailable`, fix);
  return names === '' ? ok('readiness', 'ready') : warning('readiness', `ready without ${names}`, fix);
}

const methods = z.object({ provider: z.object({ name: z.string() }).nullable(), mail: z.boolean() });

async function signInOf(apiUrl: string): Promise<Finding[]> {
  const answer = await ask(`${apiUrl}/v1/login/methods`);
  const parsed = answer instanceof Error ? null : methods.safeParse(await answer.json().catch(() => null));
  return parsed?.success === true ? [signInFinding(parsed.data)] : [];
}

export function signInFinding({ provider, mail }: z.infer<typeof methods>): Finding {
  const accounts = provider === null ? [] : [`accounts of ${provider.name}`];
  const ways = ['API tokens', ...accounts, ...(mail ? ['links in e-mails'] : [])].join(', ');
  return ok('sign-in', mail ? ways : `${ways}; with a mail server ROPEWALK_MAIL_SIGN_IN=on adds links in e-mails`);
}

async function tokenOf(apiUrl: string, token: string): Promise<Finding> {
  const answer = await ask(`${apiUrl}/v1/jobs?limit=1`, { authorization: `Bearer ${token}` });
  if (answer instanceof Error) return broken('token', reasonOf(answer), 'Read the log of the API.');
  if (answer.ok) return ok('token', `valid in workspace ${/^rw_([a-z0-9-]+)_/.exec(token)?.[1] ?? '?'}`);
  if (answer.status === 401) {
    return broken('token', 'unknown, expired or revoked', 'Run ropewalk login, or ask for a new one.');
  }
  return broken('token', `the API answered ${answer.status} to it`, 'Try again; read the log of the API.');
}

const mildSkewMs = 30_000;
const badSkewMs = 120_000;

function clockOf(answer: Response): Finding[] {
  const theirs = Date.parse(answer.headers.get('date') ?? '');
  if (Number.isNaN(theirs)) return [];
  return [clockFinding(Date.now() - theirs)];
}

/** The header's precision is one second. */
export function clockFinding(aheadMs: number): Finding {
  const seconds = Math.round(Math.abs(aheadMs) / 1_000);
  const text = `this machine is ${seconds} s ${aheadMs > 0 ? 'ahead of' : 'behind'} the API`;
  const fix = 'Synchronise both by NTP: tokens and certificates are valid by the clock.';
  if (Math.abs(aheadMs) > badSkewMs) return broken('clock', text, fix);
  return Math.abs(aheadMs) > mildSkewMs ? warning('clock', text, fix) : ok('clock', 'agrees with the API');
}

async function ask(url: string, headers: Record<string, string> = {}): Promise<Response | Error> {
  try {
    return await fetch(url, { headers, redirect: 'error', signal: AbortSignal.timeout(withinMs) });
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  }
}

const reasonOf = (error: Error): string => (error.cause instanceof Error ? error.cause.message : error.message);
