// Firewall rules of one cluster: the sources that may reach the scheduler and port 22 of its head instance, which has the
// cluster's own network tag. Firewall rules have no labels and belong to the whole project; the description names the owner and
// its region.
import { portsOf, type IngressRules } from '../../domain/cluster/capacity/ingress-rules.ts';
import { ownerKey } from '../../domain/owner.ts';
import type { CloudResource, LaunchRequest, Owner } from '../provider.ts';
import { again } from './again.ts';
import { answerOf, isNotFound } from './api-errors.ts';
import type { GcpClients } from './clients.ts';
import { ownerName } from './names.ts';
import { operationIn, requireSuccess, waitForGlobal } from './operations.ts';
import type { GcpSettings } from './settings.ts';

/** The reason of a call's error, and the code of an operation's. */
const existing = new Set(['alreadyExists', 'RESOURCE_ALREADY_EXISTS']);

interface Rule {
  name: string;
  port: number;
  sources: string[];
}

/** Idempotent: keeps existing rules, because the same cluster requested the same ones. */
export async function ensureRules(
  clients: GcpClients,
  { network, project }: GcpSettings,
  { owner, placement }: LaunchRequest,
): Promise<void> {
  if (placement?.ingress === undefined) return;
  for (const { name, port, sources } of rulesOf(owner, placement.ingress)) {
    const firewallResource = {
      name,
      description: `Ropewalk ${ownerKey(owner)} in ${clients.region}`,
      network: `projects/${project}/global/networks/${network}`,
      direction: 'INGRESS',
      sourceRanges: sources,
      targetTags: [ownerName(owner)],
      allowed: [{ IPProtocol: 'tcp', ports: [String(port)] }],
    };
    try {
      const [answer] = await clients.firewalls.insert({ project, firewallResource });
      requireSuccess(await waitForGlobal(clients, operationIn(answer)));
    } catch (error) {
      if (!existing.has(answerOf(error)?.code ?? '')) throw error;
    }
  }
}

/** A rule has addresses of one IP version. */
function rulesOf(owner: Owner, ingress: IngressRules): Rule[] {
  const rules = new Map<string, Rule>();
  for (const { port, source } of portsOf(ingress)) {
    const name = `${ownerName(owner)}-${port}-${source.includes(':') ? 'v6' : 'v4'}`;
    const rule = rules.get(name) ?? { name, port, sources: [] };
    rule.sources.push(source);
    rules.set(name, rule);
  }
  return [...rules.values()];
}

export async function deleteRules(clients: GcpClients, owner: Owner): Promise<void> {
  for (const { id, owner: of } of await listRules(clients)) {
    if (ownerKey(of) === ownerKey(owner)) await deleteRule(clients, id);
  }
}

/** Every rule that Ropewalk created for clusters of the clients' region, of any deployment. */
export const listRules = (clients: GcpClients): Promise<CloudResource[]> => again(() => listRulesOnce(clients));

async function listRulesOnce(clients: GcpClients): Promise<CloudResource[]> {
  const found: CloudResource[] = [];
  const { project, region } = clients;
  for await (const { name, description, creationTimestamp } of clients.firewalls.listAsync(
    { project, maxResults: 500 },
    { autoPaginate: false },
  )) {
    const owner = ownerOf(description ?? '', region);
    if (owner === null || name === null || name === undefined || !name.startsWith(`${ownerName(owner)}-`)) continue;
    const createdAtMs = Date.parse(creationTimestamp ?? '') || null;
    found.push({ id: name, kind: 'firewall rule', owner, createdAtMs });
  }
  return found;
}

function ownerOf(description: string, region: string): Owner | null {
  const [, text, of] = /^Ropewalk (\[.*\]) in ([a-z0-9-]+)$/.exec(description) ?? [];
  if (of !== region) return null;
  try {
    const value: unknown = JSON.parse(text ?? 'null');
    if (!Array.isArray(value)) return null;
    const [deploymentId, workspace, cluster]: unknown[] = value;
    if (typeof deploymentId !== 'string' || typeof workspace !== 'string' || typeof cluster !== 'number') return null;
    return { deploymentId, workspace, cluster };
  } catch {
    return null;
  }
}

export async function deleteRule(clients: GcpClients, firewall: string): Promise<void> {
  try {
    const [answer] = await again(() => clients.firewalls.delete({ project: clients.project, firewall }));
    requireSuccess(await waitForGlobal(clients, operationIn(answer)));
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
}
