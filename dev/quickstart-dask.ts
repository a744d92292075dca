// The second half of the quickstart: a Dask cluster with two workers, and a real computation on it over the same files.
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';

import { z } from 'zod';

import { cli } from './quickstart-cli.ts';

const created = z.object({ number: z.number() });
const script = ['examples/weather_dask.py', 'examples/weather'];

/** True when the cluster started, computed and stopped. */
export async function walkDask(home: string, env: Record<string, string>): Promise<boolean> {
  const create = ['cluster', 'create', '--workers', '2', '--name', 'weather', '--wait'];
  console.log(`\n5. $ ropewalk ${create.join(' ')}`);
  console.log('   (the first time, its Python environment is built from PyPI)');
  const startedAtMs = Date.now();
  const started = await cli([...create, '--format', 'json'], env, { showProgress: true });
  if (started.code !== 0) return false;
  const { number } = created.parse(JSON.parse(started.stdout));
  console.log(`   cluster ${number} is ready after ${((Date.now() - startedAtMs) / 1000).toFixed(1)} s\n`);

  console.log(`6. $ ropewalk cluster exec ${number} -- python ${script.join(' ')}`);
  const ran = await cli(['cluster', 'exec', String(number), '--', await pythonWithDask(home), ...script], env);
  console.log(ran.stdout);

  console.log(`7. $ ropewalk cluster stop ${number} --wait`);
  const stopped = await cli(['cluster', 'stop', String(number), '--wait', '--format', 'json'], env, {
    showProgress: true,
  });
  return ran.code === 0 && ran.stdout.includes('warmest') && stopped.code === 0;
}

/** That of the environment which the cluster has just built, so that both ends have the same versions. */
async function pythonWithDask(home: string): Promise<string> {
  const environments = join(home, 'cache', 'environments');
  const [name] = (await readdir(environments)).filter((entry) => /^[0-9a-f]{16,}$/.test(entry));
  if (name === undefined) throw new Error(`there is no Python environment in ${environments}`);
  return join(environments, name, 'bin', 'python');
}
