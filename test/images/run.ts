// Runs a program to its end; its output is shown when it fails.
import { spawn } from 'node:child_process';

export async function run(program: string, args: string[], cwd = process.cwd()): Promise<string> {
  const { code, text } = await outcomeOf(program, args, cwd);
  if (code === 0) return text.trim();
  throw new Error(`${[program, ...args].join(' ')} ended with ${code}:\n${text.slice(-4_000)}`);
}

export const succeeds = async (program: string, args: string[]): Promise<boolean> =>
  (await outcomeOf(program, args, process.cwd())).code === 0;

function outcomeOf(program: string, args: string[], cwd: string): Promise<{ code: number | null; text: string }> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { cwd, stdio: ['ignore', 'pipe', 'pipe'] });
    let text = '';
    child.stdout.setEncoding('utf8').on('data', (more: string) => (text += more));
    child.stderr.setEncoding('utf8').on('data', (more: string) => (text += more));
    child.once('error', reject);
    child.once('close', (code) => resolve({ code, text }));
  });
}
