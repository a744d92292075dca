// What every command gets: the world around it, and a client made from flags, environment and configuration file.
import type { Command } from 'commander';
import { Option } from 'commander';

import type { Client } from '../sdk/client.ts';
import { createClient } from '../sdk/client.ts';
import { resolveConnection } from './config.ts';
import type { Output } from './output.ts';

export interface CliContext {
  env: Record<string, string | undefined>;
  /** Ropewalk's home directory, which holds config.yaml. */
  home: string;
  cwd: string;
  output: Output;
}

/** A command's way to say its exit code. */
export type Finish = (exitCode: number) => void;

export interface ConnectionFlags {
  apiUrl?: string;
  tokenFile?: string;
}

export interface FormatFlag {
  format: 'table' | 'json';
}

/** There is no --token: other users of the machine can read a command line. */
export function withConnection(command: Command): Command {
  return command
    .option('--api-url <url>', 'where the API is (else ROPEWALK_API_URL, else config.yaml)')
    .option('--token-file <path>', 'a file that holds the token (else ROPEWALK_TOKEN, else config.yaml)');
}

export function withFormat(command: Command): Command {
  return command.addOption(new Option('--format <format>', 'how to print').choices(['table', 'json']).default('table'));
}

export async function connect(context: CliContext, flags: ConnectionFlags): Promise<Client> {
  return createClient(await resolveConnection(flags, context));
}
