// A cluster's Python environment. Its requirements may contain an index URL with a password, so it is sealed with the cluster's other settings and
// returned only to a caller who may run code on the cluster.
import { daskBundle } from '../../schema/agent.ts';
import { environment, type EnvironmentSpec } from '../../schema/software.ts';
import type { Context } from '../context.ts';

/** As the cluster's creator defined it; null when there is none, or when the sealed settings were deleted. */
export async function readEnvironment({ deps, actor }: Context, number: number): Promise<EnvironmentSpec | null> {
  const spec = await deps.views.clusterSpec(actor.workspace, number);
  const bytes = spec === null ? null : await deps.vault.open(spec.bundleRef);
  if (bytes === null) return null;
  const { runtime } = daskBundle.parse(JSON.parse(Buffer.from(bytes).toString('utf8')));
  // Credentials belong to the creator; another user's configuration names the indexes on their own machine.
  return runtime.kind === 'environment' ? { ...environment.parse(runtime), indexes: [] } : null;
}
