// The second half of the quickstart: a Dask cluster with two workers, and a real computation on it over the same files.
import { numberIn, typeCommand } from './quickstart-cli.ts';

const script = ['examples/weather_dask.py', 'examples/weather'];

/** True when the cluster started, computed and stopped. */
export async function walkDask(env: Record<string, string>): Promise<boolean> {
  console.log('A Dask cluster of two workers (the first time, its Python environment is built from PyPI):\n');
  const started = await typeCommand(['cluster', 'create', '--workers', '2', '--name', 'weather', '--wait'], env);
  if (started.code !== 0) return false;
  const number = String(numberIn('Cluster', started.stdout));
  const ran = await typeCommand(['cluster', 'exec', number, '--', 'python', ...script], env);
  const stopped = await typeCommand(['cluster', 'stop', number, '--wait'], env);
  return ran.code === 0 && ran.stdout.includes('warmest') && stopped.code === 0;
}
