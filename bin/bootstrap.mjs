// Runs a script of this checkout with its own Node 24, and makes sure that there is one: `node bin/bootstrap.mjs SCRIPT ARGS`.
// Plain JavaScript for Node 20 and later, without dependencies, because it runs before anything is installed.
import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { constants } from 'node:os';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const modules = join(root, 'node_modules');
const [script, ...args] = process.argv.slice(2);

if (script === undefined) fail('usage: node bin/bootstrap.mjs SCRIPT [ARGUMENTS]');
requireNode();
requirePython();
install();
run();

function requireNode() {
  const major = Number(process.versions.node.split('.')[0]);
  if (major < 20) fail(`this is Node ${process.versions.node}; Ropewalk needs Node 20 or later (https://nodejs.org)`);
}

/** Python fetches the Temporal binary, and runs the examples. */
function requirePython() {
  const found = spawnSync('python3', ['-c', 'import sys, pip; print("%d.%d" % sys.version_info[:2])'], {
    encoding: 'utf8',
  });
  const [major = 0, minor = 0] = (found.stdout ?? '').trim().split('.').map(Number);
  if (found.error !== undefined || found.status !== 0) {
    fail(
      'python3 with pip was not found; Ropewalk needs Python 3.9 or later (Debian: apt-get install python3 python3-pip)',
    );
  }
  if (major < 3 || (major === 3 && minor < 9)) fail(`python3 is ${major}.${minor}; Ropewalk needs Python 3.9 or later`);
}

/** `npm ci` when there are no modules, or those of another lockfile. */
function install() {
  const lock = createHash('sha256')
    .update(readFileSync(join(root, 'package-lock.json')))
    .digest('hex');
  const marker = join(modules, '.ropewalk-lock-hash');
  if (existsSync(marker) && readFileSync(marker, 'utf8') === lock) return;
  console.error('installing the packages of package-lock.json (once per change of it)');
  // `npm ci` refuses a lockfile that lacks the optional binaries of a platform that is not this one, which happens when it
  // was made at a registry that had none. `npm install --no-save` takes the same locked versions and leaves the file alone.
  if (!npm(['ci'], 'ignore') && !npm(['install', '--no-save'], 2))
    fail('"npm install" failed; its own lines above say why');
  writeFileSync(marker, lock);
}

function npm(args, stderr) {
  const result = spawnSync('npm', [...args, '--no-audit', '--no-fund'], {
    cwd: root,
    stdio: ['ignore', stderr, stderr],
  });
  return result.error === undefined && result.status === 0;
}

function run() {
  const node = join(modules, 'node', 'bin', 'node');
  if (!existsSync(node)) fail(`${node} is missing: remove node_modules and try again`);
  const env = { ...process.env, PATH: [join(modules, '.bin'), process.env['PATH'] ?? ''].join(delimiter) };
  const child = spawn(node, [join(root, script), ...args], { stdio: 'inherit', env });
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
  child.on('error', (error) => fail(`cannot run ${node}: ${error.message}`));
  child.on('exit', (code, signal) => process.exit(code ?? 128 + (signal === null ? 0 : constants.signals[signal])));
}

function fail(message) {
  console.error(`ropewalk: ${message}`);
  process.exit(1);
}
