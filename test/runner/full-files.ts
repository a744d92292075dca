// The files of the project `full`: those of a subject are a part of a run by its name, and the rest is the part `full`.
import { readdirSync } from 'node:fs';
import { join } from 'node:path';

/** The beginnings of the paths of each subject. */
export const subjects: Record<string, string[]> = {
  dask: ['test/dask/', 'test/integration/dask-'],
  python: ['test/python/'],
  browser: ['test/browser/'],
  clouds: [
    ...[
      'test/clouds/',
      'test/ec2/',
      'test/emulator/',
      'test/live/',
      'test/providers/',
      'test/agent/ec2-',
      'test/dev/doctor-ec2',
    ],
    ...[
      'test/integration/ec2',
      'test/integration/gcp',
      'test/integration/sweep-clouds',
      'test/ops/destroy-clouds',
      'test/ops/init-clouds',
    ],
  ],
  databases: [
    ...['test/store/', 'test/integration/postgres-', 'test/platform/', 'test/ops/backup', 'test/dev/moved-'],
    ...['test/ops/init-database', 'test/ops/postgres'],
  ],
};

/** The files of the part `full`, in order. */
export const fullFiles = (root: string): string[] =>
  readdirSync(join(root, 'test'), { recursive: true, encoding: 'utf8' })
    .map((name) => `test/${name}`)
    .filter((path) => path.endsWith('.full.test.ts'))
    .filter(
      (path) =>
        !Object.values(subjects)
          .flat()
          .some((start) => path.startsWith(start)),
    )
    .toSorted();
