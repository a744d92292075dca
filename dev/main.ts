// The entry point of `ropewalk dev`: reads the environment, locks the home, runs the stack until a signal ends it.
import { homedir, tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';

import { RopewalkError } from '../domain/errors.ts';
import { type DevConfig, defaultConfigPath, readDevConfig } from './config.ts';
import { databasePlace } from '../ops/database.ts';
import type { Consent } from '../ops/init/new-namespace.ts';
import { fileLost, launcherEnded, outputClosed } from './endings.ts';
import { fullDiskError } from './full-disk.ts';
import { type Home, lockHome, openHome } from './home.ts';
import { cacheDirectory } from './pypi-binary.ts';
import { createStack, type Kept, type Stack, type StackInfo } from './stack.ts';

export interface DevOptions {
  /** Default: ROPEWALK_HOME, else ~/.ropewalk. */
  home?: string;
  /** Default: the temporal-dev.yml of this checkout. */
  config?: string;
  /** Also starts the Temporal UI, as `temporal.ui` of the configuration does. */
  ui?: boolean;
  /** Forgets the Temporal namespace in the database, which is lost; null: it must exist. */
  newNamespace?: Consent | null;
}

/** Runs the one-machine stack until SIGINT or SIGTERM; returns the exit code. */
export async function runDev(options: DevOptions = {}): Promise<number> {
  const path = resolve(options.home ?? (process.env['ROPEWALK_HOME'] || join(homedir(), '.ropewalk')));
  try {
    const config = withUi(await readDevConfig(options.config ?? defaultConfigPath), options.ui === true);
    const home = await openHome(path);
    const lock = await lockHome(home);
    try {
      const env = definedEnv();
      return await runUntilStopped(
        home,
        createStack({ home, config, env, say, newNamespace: options.newNamespace ?? null }),
        env,
      );
    } finally {
      await lock.release();
    }
  } catch (error) {
    explain((await fullDiskError(error, [path, cacheDirectory(process.env), tmpdir()])) ?? error);
    return 1;
  }
}

const withUi = (config: DevConfig, ui: boolean): DevConfig => ({
  ...config,
  temporal: { ...config.temporal, ui: config.temporal.ui || ui },
});

/**
 * Milliseconds. A terminal's Ctrl-C arrives directly and through the wrapper that started us: signals this close count as one.
 */
const samePressMs = 500;

async function runUntilStopped(home: Home, stack: Stack, env: Record<string, string>): Promise<number> {
  let firstSignalAtMs = 0;
  let resolveStop: () => void = () => undefined;
  const signalled = new Promise<void>((done) => {
    resolveStop = done;
  });
  const onSignal = (): void => {
    if (firstSignalAtMs === 0) {
      firstSignalAtMs = Date.now();
      say('stopping (once more to end everything at once)');
      resolveStop();
    } else if (Date.now() - firstSignalAtMs > samePressMs) {
      stack.killAll();
      process.exit(130);
    }
  };
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
  for (const name of signals) process.on(name, onSignal);
  const over = new AbortController();
  let keep: Kept = 'earlier';
  let isReady = false;
  const ending = Promise.race([
    // Before it is ready, only its own processes are ended: agents of an earlier stack may hold work that it does not know.
    signalled.then(() => ({ code: 0, kept: isReady ? ('none' as const) : ('earlier' as const), why: null })),
    launcherEnded(env['ROPEWALK_LAUNCHER_FD']).then(() => ({ code: 1, kept: 'all' as const, why: launcherGone })),
    outputClosed([process.stdout, process.stderr]).then(() => ({ code: 1, kept: 'all' as const, why: readerGone })),
  ]);
  try {
    const starting = stack.start().then((info) => {
      isReady = true;
      say(describe(home, info));
    });
    const { url, file } = databasePlace(env, home.path);
    const lost = (): Promise<Ending> => fileLost(file, over.signal).then(() => databaseLost(file));
    const running = starting.then(() => (url === null ? lost() : new Promise<Ending>(() => undefined)));
    const { code, kept, why } = await Promise.race([ending, running]);
    keep = kept;
    if (why !== null) console.error(why);
    return code;
  } finally {
    over.abort();
    // A failed start throws: earlier instances continue.
    await stack.stop({ keep });
    for (const name of signals) process.off(name, onSignal);
    say('stopped');
  }
}

interface Ending {
  code: number;
  kept: Kept;
  why: string | null;
}

const launcherGone = 'ropewalk dev: the process that started it has ended; stopping, and leaving instances running';

const readerGone = 'ropewalk dev: the reader of its output has ended; stopping, and leaving instances running';

const databaseLost = (file: string): Ending => ({
  code: 1,
  kept: 'all',
  why:
    `ropewalk dev: the database ${file} was deleted or replaced while the stack ran; stopping, and leaving instances running\n` +
    'Put a backup of the file back if you have one, then start again: ropewalk dev. Without it, the next start makes a new database, ' +
    'adds the open jobs and clusters from Temporal, and writes a new token; users, tokens and lists of ended jobs are gone.',
});

const describe = (home: Home, info: StackInfo): string =>
  [
    '',
    'Ropewalk is ready.',
    '',
    `  API            ${info.apiUrl}`,
    `  Web            ${info.apiUrl}/`,
    `  API reference  ${info.apiUrl}/docs`,
    `  Temporal UI    ${info.uiUrl ?? `off (--ui); Temporal is at ${info.temporalAddress}, namespace ${info.namespace}`}`,
    `  Home           ${home.path}`,
    `  User config    ${home.configFile}`,
    '',
    '  Ctrl-C to stop',
    '',
  ].join('\n');

const say = (line: string): void => console.log(line);

const definedEnv = (): Record<string, string> =>
  Object.fromEntries(
    Object.entries(process.env).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  );

function explain(error: unknown): void {
  if (error instanceof RopewalkError) {
    console.error(`ropewalk dev: ${error.problem.message}`);
    if (error.problem.hint !== undefined) console.error(error.problem.hint);
  } else {
    console.error('ropewalk dev failed:', error);
  }
}

if (import.meta.main) {
  const { values } = parseArgs({
    options: { home: { type: 'string' }, config: { type: 'string' }, ui: { type: 'boolean' } },
  });
  const { home, config, ui = false } = values;
  const paths = { ...(home === undefined ? {} : { home }), ...(config === undefined ? {} : { config }) };
  process.exit(await runDev({ ...paths, ui }));
}
