// A deployment that claims a Temporal namespace sweeps its instances from then on. Instances that already run belong to workflows elsewhere: the settings
// of a cloud were copied to another machine, or everything else of the deployment is lost.
import { RopewalkError } from '../../domain/errors.ts';
import type { Configured } from '../../providers/manifests.ts';
import { listAll, placesOf } from '../end-all.ts';
import { plural } from '../plural.ts';

/**
 * Lists the clouds. A cloud that does not answer is named by `warn`: it may be reachable only for the Temporal workers.
 *
 * @throws RopewalkError CONFLICT when instances of this deployment run; nothing was changed.
 */
export async function refuseRunning(
  providers: readonly Configured[],
  deploymentId: string,
  warn: (line: string) => void,
): Promise<void> {
  const clouds = providers.filter(({ manifest }) => manifest.kind === 'cloud');
  const places = (await Promise.all(clouds.map(placesOf))).flat();
  const found = await Promise.all(places.map((place) => listAll(place, deploymentId)));
  for (const { where, problem } of found) {
    if (problem === null) continue;
    warn(
      `${where} was not searched for instances of deployment ${deploymentId}, which the sweep would end: ${problem}`,
    );
  }
  const running = found.filter(({ instances }) => instances.length > 0);
  if (running.length === 0) return;
  const counts = running.map(({ where, instances }) => `${plural(instances.length, 'instance')} in ${where}`);
  throw new RopewalkError({
    code: 'CONFLICT',
    message: `Deployment ${deploymentId} has ${counts.join(', ')}, and this Temporal namespace does not know it: its sweep would end them. Nothing was changed.`,
    hint: 'For a deployment of its own, remove host.json from this home and run "ropewalk setup" for settings of its own. If the namespace of these instances is lost, end them first: ropewalk destroy --by-tag.',
  });
}
