// The environment variables for sign-in at an identity provider.
import { z } from 'zod';

import type { NewPeople } from '../domain/people/sign-in.ts';
import { isPrivateLink, type Environment, type EnvironmentProblem } from '../platform/environment.ts';
import { createGithubProvider, isGithub } from '../platform/github-sign-in.ts';
import { createOidcProvider } from '../platform/oidc.ts';
import { createSecret } from '../platform/secret.ts';
import { signInPath } from '../services/login/sign-in.ts';
import type { SignInSettings } from '../services/login/sign-in-settings.ts';
import {
  readSecretSetting,
  secretProblems,
  secretSetting,
  type ReadText,
  type SecretSetting,
} from './secret-setting.ts';

const list = /^[a-z0-9-]+(\.[a-z0-9-]+)+(,[a-z0-9-]+(\.[a-z0-9-]+)+)*$/i;

export const signInVariables = {
  ROPEWALK_OIDC_ISSUER: z
    .url({ protocol: /^https?$/, error: 'must be an https URL' })
    .refine((text) => isPrivateLink(text), 'must be an https URL; http is for this machine alone')
    .optional(),
  ROPEWALK_OIDC_KIND: z.enum(['openid', 'github'], 'must be openid or github').optional(),
  ROPEWALK_OIDC_CLIENT_ID: z.string().max(500).optional(),
  ROPEWALK_OIDC_CLIENT_SECRET: z.string().max(4_000).optional(),
  ROPEWALK_OIDC_CLIENT_SECRET_FILE: z.string().optional(),
  ROPEWALK_OIDC_NAME: z.string().max(60, 'must have at most 60 characters').optional(),
  ROPEWALK_OIDC_DOMAINS: z
    .string()
    .regex(list, 'must be domains with commas between them')
    .transform((text) => text.toLowerCase().split(','))
    .optional(),
  ROPEWALK_OIDC_NEW_PEOPLE: z
    .string()
    .regex(/^[a-z0-9][a-z0-9-]{0,39}:(member|read-only)$/, 'must be WORKSPACE:member or WORKSPACE:read-only')
    .optional(),
  ROPEWALK_SESSION_HOURS: z.coerce
    .number('must be a number of hours')
    .min(0.1, 'must be at least 0.1')
    .max(8_760, 'must be at most 8760')
    .default(168),
};

export const signInExamples = {
  ROPEWALK_OIDC_ISSUER: 'https://accounts.google.com',
  ROPEWALK_OIDC_KIND: 'openid',
  ROPEWALK_OIDC_CLIENT_ID: 'ropewalk',
  ROPEWALK_OIDC_CLIENT_SECRET_FILE: '/etc/ropewalk/oidc-secret',
  ROPEWALK_OIDC_NAME: 'Google',
  ROPEWALK_OIDC_DOMAINS: 'example.com',
  ROPEWALK_OIDC_NEW_PEOPLE: 'default:member',
  ROPEWALK_SESSION_HOURS: '168',
};

/** The operator's settings; the secret is read from its file when the process starts. */
export interface SignInEnvironment {
  issuer: string;
  /** GitHub signs people in by OAuth 2 alone. */
  kind: 'openid' | 'github';
  clientId: string;
  secret: SecretSetting;
  name: string;
  domains: string[] | null;
  newPeople: NewPeople | null;
  sessionMs: number;
}

type Values = z.infer<z.ZodObject<typeof signInVariables>>;

export function readSignIn(values: Values): SignInEnvironment | null {
  const { ROPEWALK_OIDC_ISSUER: issuer, ROPEWALK_OIDC_CLIENT_ID: clientId } = values;
  const { ROPEWALK_OIDC_CLIENT_SECRET: text, ROPEWALK_OIDC_CLIENT_SECRET_FILE: file } = values;
  if (issuer === undefined || clientId === undefined) return null;
  const [workspace = '', role] = values.ROPEWALK_OIDC_NEW_PEOPLE?.split(':') ?? [];
  return {
    ...{ issuer, clientId },
    kind: values.ROPEWALK_OIDC_KIND ?? (isGithub(issuer) ? 'github' : 'openid'),
    secret: secretSetting(text, file),
    name: values.ROPEWALK_OIDC_NAME ?? new URL(issuer).hostname,
    domains: values.ROPEWALK_OIDC_DOMAINS ?? null,
    newPeople: role === 'member' || role === 'read-only' ? { workspace, role } : null,
    sessionMs: sessionMsOf(values),
  };
}

/** The length of a session, whatever began it. */
export const sessionMsOf = ({ ROPEWALK_SESSION_HOURS: hours }: Pick<Values, 'ROPEWALK_SESSION_HOURS'>): number =>
  hours * 3_600_000;

/** Checks across several variables. */
export function signInProblems(env: Environment): EnvironmentProblem[] {
  const has = (name: string): boolean => (env[`ROPEWALK_OIDC_${name}`] ?? '') !== '';
  const named = Object.keys(signInVariables).find(
    (name) => name.startsWith('ROPEWALK_OIDC_') && (env[name] ?? '') !== '',
  );
  if (named === undefined) return [];
  const problems: EnvironmentProblem[] = [];
  const add = (name: string, text: string): void => void problems.push({ variable: `ROPEWALK_OIDC_${name}`, text });
  if (!has('ISSUER')) add('ISSUER', `must be set when ${named} is`);
  if (!has('CLIENT_ID')) add('CLIENT_ID', `must be set when ${named} is`);
  problems.push(...secretProblems(env, 'ROPEWALK_OIDC_CLIENT_SECRET'));
  // Anyone can have an account at a public provider.
  if (has('NEW_PEOPLE') && !has('DOMAINS')) add('DOMAINS', 'must be set when ROPEWALK_OIDC_NEW_PEOPLE is');
  const publicUrl = env['ROPEWALK_PUBLIC_URL'] ?? '';
  if (publicUrl !== '' && !isPrivateLink(publicUrl)) {
    problems.push({ variable: 'ROPEWALK_PUBLIC_URL', text: 'must be https when ROPEWALK_OIDC_ISSUER is set' });
  }
  return problems;
}

/** Throws when the secret's file cannot be read or is empty. */
export async function createSignIn(
  settings: SignInEnvironment,
  ports: { publicUrl: string; monotonicMs: () => number; read: ReadText },
): Promise<SignInSettings> {
  const { issuer, kind, clientId, secret, ...rest } = settings;
  const text = await readSecretSetting(secret, ports.read);
  if (text === '') throw new Error('ROPEWALK_OIDC_CLIENT_SECRET_FILE is empty.');
  const redirectUrl = new URL(`${signInPath}/callback`, ports.publicUrl).href;
  const client = { issuer, clientId, clientSecret: createSecret(text), redirectUrl };
  const provider = kind === 'github' ? createGithubProvider(client) : createOidcProvider(client, ports.monotonicMs);
  return { ...rest, provider };
}
