#!/usr/bin/env -S node --
// Runs the `ropewalk` command with Node 24, also when an older Node (20 or later) runs this file. Plain JavaScript, no packages.
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import module from 'node:module';
import { constants } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const node = join(root, 'node_modules', 'node', 'bin', process.platform === 'win32' ? 'node.exe' : 'node');
const current = Number(process.versions.node.split('.')[0]);

if (current >= 24) {
  // Type stripping and compilation take most of the time of a short command. The cache is beside the packages: a user who can write
  // there can change the packages too. Where this user cannot write, there is no cache.
  module.enableCompileCache(join(root, 'node_modules', '.cache', 'ropewalk', 'compiled'));
  const { main: run } = await import('../cli/main.ts');
  process.exitCode = await run();
} else if (existsSync(node)) {
  process.exitCode = await runWith(node);
} else {
  console.error(
    `error: ropewalk needs Node 24, which comes with its packages, and they are not installed (this is Node ${process.versions.node})\n` +
      `  how to fix: run \`npm ci\` in ${root}`,
  );
  process.exitCode = 1;
}

/** The exit code of the command; 128 + n when a signal ended it, as shells count. */
async function runWith(program) {
  // Without `--` Node searches all arguments for its own option --env-file, which is also an option of `batch run`.
  const words = ['--', fileURLToPath(import.meta.url), ...process.argv.slice(2)];
  // The kernel closes the pipe when this process ends, also by SIGKILL: `ropewalk dev` then ends, too (dev/endings.ts).
  const child =
    process.argv[2] === 'dev'
      ? spawn(program, words, {
          stdio: ['inherit', 'inherit', 'inherit', 'pipe'],
          env: { ...process.env, ROPEWALK_LAUNCHER_FD: '3' },
        })
      : spawn(program, words, { stdio: 'inherit' });
  // A terminal sends Ctrl-C to the child too; the command counts two signals at the same time as one.
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(name, () => child.kill(name));
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('exit', (code, signal) => resolve(code ?? 128 + (constants.signals[signal] ?? 0)));
  });
}
