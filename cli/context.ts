// The input of every command: environment, home, directory and output; and the API client for its connection flags.
import type { Command } from 'commander';
import { Option } from 'commander';

import type { Client } from '../sdk/client.ts';
import { createClient } from '../sdk/client.ts';
import { resolveConnection } from './config.ts';
import { UsageError } from './errors.ts';
import type { Output } from './output.ts';

export interface CliContext {
  env: Record<string, string | undefined>;
  /** Ropewalk's home directory, which contains config.yaml. */
  home: string;
  cwd: string;
  output: Output;
}

/** Sets the exit code of the command. */
export type Finish = (exitCode: number) => void;

export interface ConnectionFlags {
  apiUrl?: string;
  tokenFile?: string;
  workspace?: string;
}

export interface FormatFlag {
  format: 'table' | 'json';
}

/** There is no --token, because other users of the machine can read a command line. */
export function withConnection(command: Command): Command {
  return command
    .option('--api-url <url>', 'address of the API (default: ROPEWALK_API_URL, then config.yaml)')
    .option('--token-file <path>', 'file that contains the token (default: ROPEWALK_TOKEN, then config.yaml)')
    .option('--workspace <name>', 'workspace of the token; an error when the token is of another one');
}

export function withFormat(command: Command): Command {
  return command.addOption(
    new Option('--format <format>', 'output format').choices(['table', 'json']).default('table'),
  );
}

export async function connect(context: CliContext, flags: ConnectionFlags): Promise<Client> {
  const addressUrl = context.env['ROPEWALK_ADDRESS_URL'];
  const client = createClient({ ...(await resolveConnection(flags, context)), addressUrl });
  if (flags.workspace !== undefined) await requireWorkspace(client, flags.workspace);
  return client;
}

/** A token belongs to one workspace. Throws UsageError before anything is sent to the wrong one. */
async function requireWorkspace(client: Client, wanted: string): Promise<void> {
  const { workspace } = await client.whoami();
  if (workspace === wanted) return;
  throw new UsageError(
    `the token is of the workspace ${workspace}, not of ${wanted}`,
    `Sign in there with \`ropewalk login\`, or give a token of ${wanted} with --token-file or ROPEWALK_TOKEN.`,
  );
}
