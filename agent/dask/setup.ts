// The prerequisites of a Dask process: its runtime, and a certificate of its cluster's authority, both prepared at the same
// time. The private key is created here, stored in a file that only its owner can read, and never sent.
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { jsonBy } from '../api-client/client.ts';
import { certificateAnswer } from '../../schema/agent.ts';
import type { RuntimeSpec } from '../../schema/runtime.ts';
import { packageFilesOf } from '../api-client/package-files.ts';
import type { Reports } from '../api-client/reports.ts';
import { createSharedBuilds } from '../api-client/shared-builds.ts';
import type { Session } from '../api-client/session.ts';
import type { AgentInput } from '../lifecycle/input.ts';
import type { OnStage } from '../runtimes/environment/stages.ts';
import { withDefaults } from '../runtimes/environment/with-defaults.ts';
import { prepareRuntime } from '../runtimes/prepare.ts';
import type { Runtime } from '../runtimes/runtime.ts';
import { freshPath, handOver } from '../processes/hand-over.ts';
import type { TlsFiles } from './commands.ts';
import { createCsr } from './csr.ts';
import { orFail } from './failure.ts';

export interface SetupInput extends Pick<
  AgentInput,
  'instance' | 'directory' | 'boot' | 'environment' | 'log' | 'stopping' | 'user'
> {
  session: Session;
  role: 'head' | 'worker';
  /** The agent's own directory, removed with the instance. */
  work: string;
  runtime: RuntimeSpec;
  onStage: OnStage;
  /** For the events of the cluster. */
  note: Reports['note'];
}

export interface Setup {
  runtime: Runtime;
  tls: TlsFiles;
}

/** Rejects with a DaskFailure, or with the stop order's reason. */
export async function setUp(input: SetupInput): Promise<Setup> {
  const [runtime, tls] = await Promise.all([orFail('ENVIRONMENT_FAILED', daskRuntime(input)), certificate(input)]);
  input.stopping.signal.throwIfAborted();
  return { runtime, tls };
}

/** An environment is completed with Dask; an image must contain it. */
async function daskRuntime(input: SetupInput): Promise<Runtime> {
  const { runtime, session, role, boot, note } = input;
  const shared = createSharedBuilds({ session, apiUrl: boot.apiUrl, note });
  const prepare = { ...input, fetchPackageFile: packageFilesOf(session), shared, needsDask: true };
  if (runtime.kind !== 'environment') return prepareRuntime(runtime, prepare);
  return prepareRuntime(
    { ...runtime, requirements: withDefaults(runtime.requirements, runtime.pinned, runtime.packageFiles, role) },
    prepare,
  );
}

async function certificate({ session, work, stopping, user }: SetupInput): Promise<TlsFiles> {
  const { csrPem, keyPem } = await createCsr();
  const answer = await session.call({
    method: 'POST',
    path: '/v1/agent/certificate',
    body: () => ({ csr: csrPem }),
    read: jsonBy((json) => certificateAnswer.parse(json)),
  });
  stopping.signal.throwIfAborted();
  if (answer === null) throw new Error('the API gave no certificate');
  const directory = freshPath(work, 'tls');
  await mkdir(directory, { mode: 0o700 });
  const write = async (name: string, content: string): Promise<string> => {
    const path = join(directory, name);
    await writeFile(path, content, { mode: 0o600, flag: 'wx' });
    return path;
  };
  const files = {
    caFile: await write('ca.pem', answer.ca),
    certFile: await write('certificate.pem', answer.certificate),
    keyFile: await write('key.pem', keyPem),
  };
  await handOver(user, directory);
  return files;
}
