// Finds Python and Dask in an image: a cluster whose image lacks them ends with that reason before anything starts.
import { mkdir } from 'node:fs/promises';

import { freshPath, handOver } from '../../processes/hand-over.ts';
import type { ContainerInput } from './input.ts';
import type { Runtime } from '../runtime.ts';

const program = [
  'import importlib.metadata as m, sys',
  'print("ropewalk-python", sys.executable, "%d.%d" % sys.version_info[:2], m.version("dask"), m.version("distributed"))',
].join('; ');

/** Names vary by image: python:3.12 has both, Debian's packages only python3. */
const script = `for python in python python3; do
  command -v $python >/dev/null 2>&1 && exec $python -c '${program}'
done
echo "there is no python on its PATH" >&2
exit 1`;

/** The path of Python in the image. Rejects with a user-facing reason. */
export async function findDask(runtime: Runtime, image: string, input: ContainerInput): Promise<string> {
  const { directory, log, stopping, user } = input;
  const cwd = freshPath(directory, 'image-check');
  await mkdir(cwd, { mode: 0o700 });
  await handOver(user, cwd);
  const lines: string[] = [];
  const output = {
    append: (_: string, more: string[]): boolean => {
      lines.push(...more);
      return true;
    },
    drained: () => Promise.resolve(),
  };
  const command = { argv: ['sh', '-c', script], env: {}, cwd };
  const running = await runtime.start(command, { output, pipeDirectory: directory });
  const stop = (): void => running.end(0);
  stopping.signal.addEventListener('abort', stop, { once: true });
  const { exitCode } = await running.ended;
  stopping.signal.removeEventListener('abort', stop);
  stopping.signal.throwIfAborted();
  const found = lines
    .map((line) => /^ropewalk-python (\S+) (\S+) (\S+) (\S+)$/.exec(line))
    .find((each) => each !== null);
  const [, python, version, dask, distributed] = found ?? [];
  if (exitCode !== 0 || python === undefined) throw withoutDask(image, lines);
  log.write(`The image ${image} has Python ${version}, dask ${dask} and distributed ${distributed}.`);
  return python;
}

const withoutDask = (image: string, lines: readonly string[]): Error =>
  new Error(
    `The image ${image} cannot run a Dask cluster: it needs Python with the packages dask and distributed. ` +
      `It says: ${lines.slice(-3).join(' / ').slice(-500)}. Install distributed in the image, or name another one, as ` +
      'daskdev/dask.',
  );
