// The certificate of a Dask client, in files of its own.
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import type { TlsFiles } from '../../agent/dask/commands.ts';
import { issueLeafAndKey, type ClusterCa } from '../../platform/pki/cluster-ca.ts';

export async function clientFiles(ca: ClusterCa, home: string): Promise<TlsFiles> {
  const { certificatePem, keyPem } = await issueLeafAndKey({
    ca,
    role: 'client',
    subject: 'a user',
    addresses: [],
    validDays: 1,
  });
  const directory = join(home, 'client');
  await mkdir(directory, { mode: 0o700 });
  const write = async (name: string, text: string): Promise<string> => {
    await writeFile(join(directory, name), text, { mode: 0o600 });
    return join(directory, name);
  };
  return {
    caFile: await write('ca.pem', ca.certificatePem),
    certFile: await write('client.pem', certificatePem),
    keyFile: await write('client.key', keyPem.reveal()),
  };
}
