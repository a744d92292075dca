// The hint about a package that package sync left out, with a real Python.
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

import { expect, it } from 'vitest';

import { leftOutFiles, leftOutVariable, writeLeftOut } from '../../agent/runtimes/environment/left-out.ts';

const program = `import sys
sys.path.insert(0, sys.argv[1])
import _ropewalk_left_out
import importlib.util
import pickle

print(importlib.util.find_spec("gdal"), importlib.util.find_spec("gdal_unlisted"))
for name in ("gdal.core", "gdal_unlisted"):
    try:
        __import__(name)
    except ModuleNotFoundError as error:
        print(pickle.loads(pickle.dumps(error)))
`;

it('the reason is in the text of the import error, also after unpickling, and find_spec raises no error', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'ropewalk-left-out-'));
  try {
    for (const [name, text] of Object.entries(leftOutFiles)) await writeFile(join(directory, name), text);
    const path = await writeLeftOut(directory, [
      { name: 'GDAL', why: 'it comes from conda', imports: ['gdal', 'osgeo'] },
    ]);
    const env = { ...process.env, [leftOutVariable]: path ?? '' };
    const { stdout } = await promisify(execFile)('python3', ['-c', program, directory], { env });
    expect(stdout.split('\n')).toEqual([
      'None None',
      "No module named 'gdal'. Package sync left GDAL out: it comes from conda.",
      "No module named 'gdal_unlisted'",
      '',
    ]);
    expect(await writeLeftOut(directory, [])).toBeNull();
  } finally {
    await rm(directory, { recursive: true });
  }
});
