// An in-memory API with instances of a cloud and an object store in a directory: instances share environments.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { createDirectoryFiles } from '../../platform/objects/directory-files.ts';
import { createDirectoryObjects } from '../../platform/objects/directory.ts';
import type { Ports } from '../../services/ports.ts';
import { testHost } from '../api/providers.ts';
import { createTestApi } from '../api/support.ts';

export async function sharingApi(more: Partial<Ports> = {}) {
  const directory = await mkdtemp(join(tmpdir(), 'ropewalk-shared-'));
  const host = testHost();
  // Clusters start on the host, which needs no offers; their instances count as a cloud's.
  const providers: Ports['providers'] = [
    { ...host, manifest: { ...host.manifest, isInstanceId: () => false } },
    { ...host, manifest: { ...host.manifest, name: 'cloud', kind: 'cloud' } },
  ];
  const files = createDirectoryFiles(directory);
  const api = await createTestApi({ objects: createDirectoryObjects(directory), files, providers, ...more });
  return { api, directory, close: () => rm(directory, { recursive: true, force: true }) };
}
