// `node bin/bootstrap.mjs SCRIPT ARGS`: installs the packages if needed, and runs a script with the Node 24 among them.
// Plain JavaScript for Node 20 and later, without dependencies, because it runs before the packages are installed.
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

/** pip downloads the Temporal binary; Python runs the examples. */
function requirePython() {
  const found = spawnSync('python3', ['-c', 'import sys, pip; print("%d.%d" % sys.version_info[:2])'], {
    encoding: 'utf8',
  });
  const [major = 0, minor = 0] = (found.stdout ?? '').trim().split('.').map(Number);
  if (found.error !== undefined || found.status !== 0) {
    fail(
      'python3 with pip was not found; Ropewalk needs Python 3.10 or later (Debian: apt-get install python3 python3-pip)',
    );
  }
  if (major < 3 || (major === 3 && minor < 10))
    fail(`python3 is ${major}.${minor}; Ropewalk needs Python 3.10 or later`);
}

/** Runs `npm ci` when node_modules is missing or belongs to another lockfile. */
function install() {
  const lock = createHash('sha256')
    .update(readFileSync(join(root, 'package-lock.json')))
    .digest('hex');
  const marker = join(modules, '.ropewalk-lock-hash');
  if (existsSync(marker) && readFileSync(marker, 'utf8') === lock) return;
  if (isInstalled()) {
    writeFileSync(marker, lock);
    return;
  }
  console.error('installing the packages of package-lock.json (once per change of it)');
  // `npm ci` refuses a lockfile without the optional binaries of other platforms, as some registries produce it.
  // `npm install --no-save` installs the same locked versions and does not change the file.
  if (!npm(['ci'], 'ignore') && !npm(['install', '--no-save'], 2)) fail('"npm install" failed; see its messages above');
  writeFileSync(marker, lock);
}

/** True when npm itself has installed the packages of package-lock.json: npm keeps its own list of installed packages. */
function isInstalled() {
  const installed = packagesOf(join(modules, '.package-lock.json'));
  const wanted = packagesOf(join(root, 'package-lock.json'));
  if (installed === null || wanted === null) return false;
  return Object.entries(wanted).every(
    ([path, { version, optional = false }]) =>
      !path.startsWith('node_modules/') || (path in installed ? installed[path].version === version : optional),
  );
}

function packagesOf(path) {
  try {
    return JSON.parse(readFileSync(path, 'utf8')).packages ?? null;
  } catch {
    return null;
  }
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
