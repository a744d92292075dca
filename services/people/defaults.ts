// The defaults of the caller's workspace: an admin sets them, and requests use them for absent fields.
import { requireAllowedIngress } from '../../domain/cluster/capacity/ingress-policy.ts';
import { parseIngressRules } from '../../domain/cluster/capacity/ingress-rules.ts';
import { withDefaults, type WorkspaceDefaults } from '../../domain/people/defaults.ts';
import type { WorkspaceInfo } from '../../schema/people.ts';
import { requireScope } from '../auth/scopes.ts';
import type { Context } from '../context.ts';
import type { MachinesInput } from '../../schema/machines-spec.ts';
import { requireZone } from '../machines.ts';
import { providerOf, type Providers } from '../providers.ts';
import { byOf, orRefused } from './rules.ts';
import { getWorkspace } from './workspace.ts';

/** @throws RopewalkError VALIDATION naming a field that no request could have. */
export async function putDefaults(context: Context, defaults: WorkspaceDefaults): Promise<WorkspaceInfo> {
  const { deps, actor } = context;
  requireScope(actor, 'admin');
  const { manifest, reader } = providerOf(deps.providers, defaults.provider);
  requireAllowedIngress(deps.ingressPolicy, parseIngressRules(defaults), defaults);
  if (manifest.kind !== 'host') {
    const place = reader.placeOf(defaults.region);
    if (defaults.zone !== undefined) requireZone(place, defaults.zone);
  }
  orRefused(await deps.store.workspaces.setDefaults(actor.workspace, { defaults, by: byOf(actor) }, deps.now()));
  return getWorkspace(context);
}

export async function readDefaults({ deps, actor }: Context): Promise<WorkspaceDefaults> {
  return (await deps.store.workspaces.find(actor.workspace))?.defaults ?? {};
}

/** Defaults belong to one provider: they do not apply to a request for another one, nor to a host. */
export function machinesWithDefaults(
  providers: Providers,
  asked: MachinesInput,
  defaults: WorkspaceDefaults,
): MachinesInput {
  const provider = asked.provider ?? defaults.provider;
  const { manifest } = providerOf(providers, provider);
  const isMeant = manifest.name === providerOf(providers, defaults.provider).manifest.name;
  if (!isMeant || manifest.kind === 'host') return { ...asked, provider };
  return { ...withDefaults(asked, defaults), provider };
}
