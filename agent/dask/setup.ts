// What a Dask process needs before it can start: a Python environment, and a certificate of its cluster's authority. Both
// are had at the same time. The private key is made here, lies in a file that only its owner can read, and is never sent.
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { certificateAnswer } from '../../schema/agent.ts';
import { orFail, presentable } from './failure.ts';
import { createCsr } from './csr.ts';
import type { TlsFiles } from './commands.ts';
import { cleanEnvironments } from '../runtimes/environment/clean.ts';
import { ensureEnvironment } from '../runtimes/environment/environment.ts';
import type { Environment, StageName } from '../runtimes/environment/environment.ts';
import { EnvironmentError } from '../runtimes/environment/errors.ts';
import { stamp } from '../runtimes/environment/in-use.ts';
import { withDefaults } from '../runtimes/environment/with-defaults.ts';
import type { AgentInput } from '../lifecycle/input.ts';
import type { Session } from '../api-client/session.ts';

export interface SetupInput extends Pick<AgentInput, 'boot' | 'environment' | 'log' | 'stopping'> {
  session: Session;
  /** Of this instance's own; it is gone when the instance has been terminated. */
  work: string;
  requirements: readonly string[];
  onStage: (name: StageName) => void;
}

export interface Setup {
  pythonDirectory: string;
  tls: TlsFiles;
}

/** Rejects with a DaskFailure, or with the reason for which the agent is stopped. */
export async function setUp(input: SetupInput): Promise<Setup> {
  const [environment, tls] = await Promise.all([
    orFail('ENVIRONMENT_FAILED', pythonEnvironment(input)),
    certificate(input),
  ]);
  input.stopping.signal.throwIfAborted();
  keepTidy(input, environment.directory);
  return { pythonDirectory: environment.directory, tls };
}

/** The control plane gives an instance up at once when its environment fails, so what may pass is tried again here. */
const attempts = 3;
const againAfterMs = 2_000;

async function pythonEnvironment(input: SetupInput): Promise<Environment> {
  const { boot, environment, log, onStage, stopping } = input;
  const { signal } = stopping;
  const requirements = withDefaults(input.requirements);
  for (let attempt = 1; ; attempt += 1) {
    try {
      const made = await ensureEnvironment({
        cacheDir: boot.cacheDir,
        requirements,
        pythonPath: 'python3',
        environment,
        onStage,
        signal,
      });
      log.write(`Python environment ${made.hash.slice(0, 12)} is ${made.reused ? 'there' : 'made'}: ${timesOf(made)}.`);
      return made;
    } catch (error) {
      signal.throwIfAborted();
      const mayPass = error instanceof EnvironmentError && (error.code === 'INSTALL' || error.code === 'TOOLS');
      if (!mayPass || attempt === attempts) throw error;
      log.write(`The Python environment could not be made, trying again: ${presentable(error.message)}`);
      await sleep(againAfterMs * attempt, undefined, { signal });
    }
  }
}

/** Old environments go while the new cluster starts; its own is noted as used every day. */
function keepTidy({ boot, log }: SetupInput, directory: string): void {
  setInterval(() => void stamp(directory), stampEveryMs).unref();
  void cleanEnvironments(boot.cacheDir).then(
    (removed) => removed.length > 0 && log.write(`Removed ${removed.length} unused Python environments.`),
    (error: unknown) => log.write(`Unused Python environments could not be removed: ${String(error)}`),
  );
}

const stampEveryMs = 86_400_000;

const timesOf = ({ stages }: Environment): string =>
  stages.map(({ name, durationMs }) => `${name} ${(durationMs / 1000).toFixed(1)} s`).join(', ');

async function certificate({ session, work, stopping }: SetupInput): Promise<TlsFiles> {
  const { csrPem, keyPem } = await createCsr();
  const answer = await session.call({
    method: 'POST',
    path: '/v1/agent/certificate',
    body: () => ({ csr: csrPem }),
    parse: (json) => certificateAnswer.parse(json),
  });
  stopping.signal.throwIfAborted();
  if (answer === null) throw new Error('no certificate was given');
  const directory = join(work, 'tls');
  await mkdir(directory, { recursive: true, mode: 0o700 });
  const write = async (name: string, content: string): Promise<string> => {
    const path = join(directory, name);
    await writeFile(path, content, { mode: 0o600, flag: 'wx' });
    return path;
  };
  return {
    caFile: await write('ca.pem', answer.ca),
    certFile: await write('certificate.pem', answer.certificate),
    keyFile: await write('key.pem', keyPem),
  };
}
