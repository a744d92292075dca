// Runs the real CLI for the quickstart, as its user would.
import { spawn } from 'node:child_process';
import { join } from 'node:path';

import { repository } from './build.ts';

export function cli(
  args: string[],
  env: Record<string, string>,
  { showProgress = false } = {},
): Promise<{ code: number; stdout: string }> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [join(repository, 'bin', 'ropewalk.mjs'), ...args], {
      cwd: repository,
      env,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let stdout = '';
    let stderr = '';
    child.stdout.on('data', (chunk: Buffer) => (stdout += chunk.toString()));
    child.stderr.on('data', (chunk: Buffer) => {
      stderr += chunk.toString();
      if (showProgress) process.stderr.write(chunk);
    });
    child.once('error', reject);
    child.once('close', (code) => {
      if (stdout === '') reject(new Error(`ropewalk ${args.join(' ')} ended with ${code}: ${stderr.trim()}`));
      else resolve({ code: code ?? 1, stdout });
    });
  });
}
