// Node, Deno and Bun: the environment variables of the command line, and the config.yaml that `ropewalk login` and
// `ropewalk dev` write. The only file of the SDK that needs Node; package.json selects it by the condition `node`.
import { readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';

import type { Defaults } from './defaults.ts';
import { ConfigurationError } from './errors.ts';
import { readScalar } from './flat-yaml.ts';

const variables = { apiUrl: 'ROPEWALK_API_URL', token: 'ROPEWALK_TOKEN' } as const;
type Name = keyof typeof variables;

export function readDefaults({ env, home }: { env: NodeJS.ProcessEnv; home: string } = ofThisProcess()): Defaults {
  const path = join(env['ROPEWALK_HOME'] || join(home, '.ropewalk'), 'config.yaml');
  const read = (name: Name): string | undefined => env[variables[name]] || readSetting(path, name);
  return {
    apiUrl: () => read('apiUrl'),
    token: () => read('token'),
    addressUrl: () => env['ROPEWALK_ADDRESS_URL'],
    alternatives: (name) =>
      `, set ${variables[name]}, or sign in with \`ropewalk login\` (\`ropewalk dev\` on one machine), which writes ${path}`,
  };
}

const ofThisProcess = () => ({ env: process.env, home: homedir() });

function readSetting(path: string, name: Name): string | undefined {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : 'unknown error';
    if (code === 'ENOENT') return undefined;
    throw new ConfigurationError(`Cannot read ${path}: ${String(code)}.`);
  }
  const value = readScalar(text, name);
  // Without the value, which can be the token.
  if (value === null) throw new ConfigurationError(`${path}: the value of ${name} is not a string on one line.`);
  return value;
}
