// The first script of the batch jobs' quickstart, unchanged, with a real stack and real containers.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { expect, it } from 'vitest';

import { runCli } from '../cli/run-cli.ts';
import { hasPodman, importImage, podman, podmanConfiguration } from '../support/container-image.ts';
import { startStack } from '../support/stack.ts';

const script = `#!/bin/bash

# COILED ntasks 10
# COILED memory 32GB
# COILED container ubuntu:latest

echo Hello from $COILED_BATCH_TASK_ID
`;

it.runIf(await hasPodman())('runs the script of the quickstart in its container, ten times', async () => {
  const place = await mkdtemp(join(tmpdir(), 'ropewalk-quickstart-'));
  const configuration = await podmanConfiguration(place);
  const image = 'docker.io/library/ubuntu:latest';
  await importImage(configuration, image, { programs: ['/bin/bash', '/bin/sh'] });
  const stack = await startStack({ overrides: { worker: { env: { CONTAINERS_CONF: configuration } } } });
  try {
    await writeFile(join(place, 'my_script.sh'), script);
    const env = { ROPEWALK_API_URL: stack.apiUrl, ROPEWALK_TOKEN: stack.token };
    const ran = await runCli(['batch', 'run', '--wait', 'my_script.sh'], { cwd: place, env });
    expect(ran).toMatchObject({ code: 0, stderr: expect.stringContaining('10 / 10 done') });
    const { stdout } = await runCli(['batch', 'logs', '1'], { env });
    const said = stdout.split('\n').flatMap((line) => /Hello from \d$/.exec(line) ?? []);
    expect(said.toSorted()).toEqual(Array.from({ length: 10 }, (_, id) => `Hello from ${id}`));
    expect(await podman(configuration, 'ps', '--all', '--quiet')).toBe('');
  } finally {
    await stack.stop();
    await podman(configuration, 'rmi', '--force', image);
    await rm(place, { recursive: true });
  }
});
