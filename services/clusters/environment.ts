// A cluster's Python environment. Its requirements may hold an index URL with a password, so it is sealed with the cluster's
// other settings and answered only to a caller who may run code on the cluster.
import { daskBundle } from '../../schema/agent.ts';
import { environment, type EnvironmentSpec } from '../../schema/software.ts';
import type { Context } from '../context.ts';

/** As the cluster's creator gave it; null when there is none, or when the sealed settings are no longer kept. */
export async function readEnvironment({ deps, actor }: Context, number: number): Promise<EnvironmentSpec | null> {
  const spec = await deps.views.clusterSpec(actor.workspace, number);
  const bytes = spec === null ? null : await deps.vault.open(spec.bundleRef);
  if (bytes === null) return null;
  const { runtime } = daskBundle.parse(JSON.parse(Buffer.from(bytes).toString('utf8')));
  // Credentials are the creator's: another user's own configuration names the indexes on their machine.
  return runtime.kind === 'environment' ? { ...environment.parse(runtime), indexes: [] } : null;
}
