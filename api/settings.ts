// The API's environment, checked at once: every problem is told, not only the first.
import { homedir } from 'node:os';
import { join } from 'node:path';

import { z } from 'zod';

export interface Settings {
  home: string;
  port: number;
  publicUrl: string;
  hostId: string;
  logLevel: string;
}

export function readSettings(env: Readonly<Record<string, string | undefined>>): Settings {
  const parsed = environment.safeParse(env);
  if (!parsed.success) {
    const problems = parsed.error.issues.map(({ path, message }) => `  ${path.join('.')}: ${message}`);
    throw new Error(['The API cannot start; its environment has problems:', ...problems].join('\n'));
  }
  const { ROPEWALK_HOME, ROPEWALK_PORT, ROPEWALK_PUBLIC_URL, ROPEWALK_HOST_ID, ROPEWALK_LOG_LEVEL } = parsed.data;
  return {
    home: ROPEWALK_HOME,
    port: ROPEWALK_PORT,
    publicUrl: ROPEWALK_PUBLIC_URL ?? `http://127.0.0.1:${ROPEWALK_PORT}`,
    hostId: ROPEWALK_HOST_ID,
    logLevel: ROPEWALK_LOG_LEVEL,
  };
}

const environment = z.object({
  ROPEWALK_HOME: z.string().min(1).default(join(homedir(), '.ropewalk')),
  ROPEWALK_PORT: z.coerce.number().int().min(0).max(65_535),
  ROPEWALK_PUBLIC_URL: z.url().optional(),
  ROPEWALK_HOST_ID: z.string().regex(/^[A-Za-z0-9_-]{1,64}$/, 'letters, digits, "_" and "-", at most 64'),
  ROPEWALK_LOG_LEVEL: z.enum(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent']).default('info'),
});
