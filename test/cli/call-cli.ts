// Runs a command line of the CLI in this process: for tests of a command's requests and output. Where the process itself is
// tested (signals, standard input, programs that a command starts), run-cli.ts starts one.
import { tmpdir } from 'node:os';
import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';

import { runCommandLine } from '../../cli/command-line.ts';
import { createOutput } from '../../cli/output.ts';
import type { CliResult } from './run-cli.ts';

export interface CallOptions {
  env?: Record<string, string>;
  cwd?: string;
}

export async function callCli(words: string[], { env = {}, cwd = tmpdir() }: CallOptions = {}): Promise<CliResult> {
  const [stdout, stderr] = [new PassThrough(), new PassThrough()];
  const printed = Promise.all([text(stdout), text(stderr)]);
  // Not the user's own home: a test must not find their configuration.
  const { ROPEWALK_HOME: home = '/nonexistent' } = env;
  const context = { env: { PATH: process.env['PATH'] ?? '', ROPEWALK_HOME: home, ...env }, home, cwd };
  const code = await runCommandLine(words, { ...context, output: createOutput(stdout, stderr) });
  stdout.end();
  stderr.end();
  const [out, err] = await printed;
  return { code, stdout: out, stderr: err };
}
