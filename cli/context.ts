// The input of every command: environment, home, directory and output; and the API client for its connection flags.
import type { Command } from 'commander';
import { Option } from 'commander';

import type { Client } from '../sdk/client.ts';
import { createClient } from '../sdk/client.ts';
import { resolveConnection } from './config.ts';
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
}

export interface FormatFlag {
  format: 'table' | 'json';
}

/** There is no --token, because other users of the machine can read a command line. */
export function withConnection(command: Command): Command {
  return command
    .option('--api-url <url>', 'address of the API (default: ROPEWALK_API_URL, then config.yaml)')
    .option('--token-file <path>', 'file that contains the token (default: ROPEWALK_TOKEN, then config.yaml)');
}

export function withFormat(command: Command): Command {
  return command.addOption(
    new Option('--format <format>', 'output format').choices(['table', 'json']).default('table'),
  );
}

export async function connect(context: CliContext, flags: ConnectionFlags): Promise<Client> {
  const addressUrl = context.env['ROPEWALK_ADDRESS_URL'];
  return createClient({ ...(await resolveConnection(flags, context)), addressUrl });
}
