// A private CA and leaves as in a cluster, made by openssl to be independent of the product.
import { execFile } from 'node:child_process';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

import type { TlsFiles } from '../../agent/dask/commands.ts';

const run = promisify(execFile);

export interface Certificates {
  scheduler: TlsFiles;
  worker: TlsFiles;
  client: TlsFiles;
}

export async function createCertificates(directory: string): Promise<Certificates> {
  await mkdir(directory, { recursive: true, mode: 0o700 });
  const caKey = join(directory, 'ca.key');
  const caFile = join(directory, 'ca.pem');
  const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes'];
  await run('openssl', [
    'req',
    '-x509',
    ...key,
    '-keyout',
    caKey,
    '-out',
    caFile,
    '-subj',
    '/CN=test-ca',
    '-days',
    '2',
  ]);
  const leaf = async (name: string): Promise<TlsFiles> => {
    const keyFile = join(directory, `${name}.key`);
    const certFile = join(directory, `${name}.pem`);
    const signed = ['-CA', caFile, '-CAkey', caKey, '-days', '2', '-subj', `/CN=${name}`];
    await run('openssl', ['req', '-x509', ...key, '-keyout', keyFile, '-out', certFile, ...signed]);
    return { caFile, certFile, keyFile };
  };
  return { scheduler: await leaf('scheduler'), worker: await leaf('worker'), client: await leaf('client') };
}
