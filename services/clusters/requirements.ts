// The requirements of a cluster's Python environment. They may hold an index URL with a password, so they are sealed with the
// cluster's other settings and answered only to a caller who may run code on the cluster.
import { daskBundle } from '../../schema/agent.ts';
import type { Context } from '../context.ts';

/** As the cluster's creator gave them; null when the sealed settings are no longer kept. */
export async function readRequirements({ deps, actor }: Context, number: number): Promise<string[] | null> {
  const spec = await deps.views.clusterSpec(actor.workspace, number);
  const bytes = spec === null ? null : await deps.vault.open(spec.bundleRef);
  if (bytes === null) return null;
  const { runtime } = daskBundle.parse(JSON.parse(Buffer.from(bytes).toString('utf8')));
  return runtime.kind === 'environment' ? runtime.requirements : [];
}
