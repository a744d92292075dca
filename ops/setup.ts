// `ropewalk setup PROVIDER`: prepares a cloud account with the operator's own credentials. It shows a plan, asks, and applies
// it; a second run continues with the rest. It uses no database, no Temporal and no API.
import { join } from 'node:path';

import { parseRange } from '../domain/cluster/capacity/ingress-rules.ts';
import { RopewalkError } from '../domain/errors.ts';
import type { ProviderSetup, QuotaReport, SetupInput, SetupPlan, SetupStep } from '../providers/manifest.ts';
import { manifests } from '../providers/manifests.ts';
import { loadHost } from './host.ts';
import { plural } from './plural.ts';
import { reporting, type Said } from './report.ts';

export interface SetupOptions {
  env: Record<string, string | undefined>;
  home: string;
  /** Name of the provider. */
  provider: string;
  /** Default: the home's deployment. */
  deployment?: string | undefined;
  name: string;
  regions: readonly string[];
  network: string | null;
  subnets: readonly string[];
  clientRanges: readonly string[] | null;
  controlPlaneRole: string | null;
  project: string | null;
  bucket: string | null;
  /** Path of the settings; by default that of the settings variable, else in the home. */
  settings?: string | undefined;
  /** Only show the plan. */
  planOnly: boolean;
  /** Remove the resources of an earlier run. */
  remove: boolean;
  yes: boolean;
  format: 'table' | 'json';
  /** Shows the question and returns the typed line; null when standard input is closed. */
  ask: (question: string) => Promise<string | null>;
}

/** Returns the exit code. */
export async function runSetup(options: SetupOptions, said: Said): Promise<number> {
  return reporting(said, async () => {
    const { setup, settingsPath } = await setupOf(options);
    const named = setup.deploymentIn(settingsPath);
    const input = await inputOf(options, settingsPath, named);
    requireSameDeployment(input, named, options.home);
    const plan = await (options.remove ? setup.planRemoval(input) : setup.plan(input));
    const isTable = options.format === 'table';
    if (isTable) printPlan(plan, input, said);
    const changes = plan.steps.filter(({ action }) => action !== 'keep');
    const done: SetupStep[] = [];
    if (!options.planOnly) {
      if (changes.length > 0 && !options.yes) await confirm(options.ask);
      const note = (step: SetupStep): void => {
        done.push(step);
        said.err(`  ${past[step.action]} ${described(step)}`);
      };
      await plan.apply(note, new AbortController().signal, (line) => said.err(`  waiting: ${line}`));
    }
    if (!isTable) said.json({ account: plan.account, deploymentId: input.deploymentId, steps: plan.steps, done });
    else if (!options.planOnly) printDone(options, settingsPath, plan, done.length, said);
    return 0;
  });
}

export interface QuotaOptions extends Pick<
  SetupOptions,
  'env' | 'home' | 'provider' | 'regions' | 'settings' | 'project'
> {
  /** vCPUs to request; null only shows the quotas. */
  request: number | null;
  format: 'table' | 'json';
}

/** Returns the exit code. */
export async function runQuotas(options: QuotaOptions, said: Said): Promise<number> {
  return reporting(said, async () => {
    const { setup, settingsPath } = await setupOf(options);
    const { env, regions, project, request } = options;
    const reports = await setup.quotas({ env, regions, project, settingsPath, request });
    if (options.format === 'json') said.json(reports);
    else for (const report of reports) said.out(quotaLine(report));
    return 0;
  });
}

async function setupOf({
  env,
  home,
  provider,
  settings,
}: Pick<SetupOptions, 'env' | 'home' | 'provider' | 'settings'>): Promise<{
  setup: ProviderSetup;
  settingsPath: string;
}> {
  const manifest = manifests.find(({ name }) => name === provider);
  if (manifest === undefined || manifest.setup === null) {
    const known = manifests.flatMap(({ name, setup }) => (setup === null ? [] : [name])).join(', ');
    const message = `There is no setup of ${JSON.stringify(provider)}.`;
    throw new RopewalkError({ code: 'VALIDATION', message, hint: `Name one of: ${known}.` });
  }
  const named = env[manifest.settingsVariable ?? ''] ?? '';
  const settingsPath = settings ?? (named === '' ? join(home, `${manifest.name}.json`) : named);
  return { setup: await manifest.setup(), settingsPath };
}

/** `named`: the deployment of existing settings, which a new home continues. */
async function inputOf(options: SetupOptions, settingsPath: string, named: string | null): Promise<SetupInput> {
  const { env, home, name, regions, network, subnets, clientRanges, controlPlaneRole, project, bucket } = options;
  if (network === null && subnets.length > 0) {
    const hint = 'Name their VPC with --network.';
    throw new RopewalkError({ code: 'VALIDATION', message: 'Subnets need a network.', hint });
  }
  return {
    ...{ env, name, regions, controlPlaneRole, project, bucket, settingsPath },
    clientRanges: clientRanges?.map(rangeOf) ?? null,
    deploymentId: options.deployment ?? (await loadHost(home, named ?? undefined)).deploymentId,
    network: network === null ? null : { id: network, subnets },
  };
}

function requireSameDeployment({ deploymentId, settingsPath }: SetupInput, named: string | null, home: string): void {
  if (named === null || named === deploymentId) return;
  throw new RopewalkError({
    code: 'CONFLICT',
    message: `${settingsPath} is of deployment ${named}, and this setup of ${deploymentId} (${home}/host.json, or --deployment); nothing was changed.`,
    hint: `Continue that setup with --deployment ${named}, or name another file for ${deploymentId} with --settings.`,
  });
}

/** In the firewall's normal form: otherwise the next run would revoke a rule that the cloud shows differently. */
function rangeOf(text: string): string {
  const range = parseRange(text);
  if (range !== null) return range;
  throw new RopewalkError({
    code: 'VALIDATION',
    field: 'clientRange',
    message: `--client-range ${text} is not an address or a range of addresses.`,
    hint: 'Write it as 203.0.113.0/24 or 2001:db8::/32.',
  });
}

const past: Record<SetupStep['action'], string> = {
  create: 'created',
  change: 'changed',
  keep: 'kept',
  delete: 'deleted',
};

function printPlan({ account, steps }: SetupPlan, { deploymentId, settingsPath }: SetupInput, said: Said): void {
  said.out(`account ${account}, deployment ${deploymentId}, settings ${settingsPath}`);
  for (const step of steps) said.out(`  ${step.action.padEnd(6)} ${described(step)}`);
}

function described({ region, kind, name, id, detail }: SetupStep): string {
  const where = region === null ? '' : `, ${region}`;
  return `${kind} ${name}${id === null ? '' : ` (${id})`}${where}${detail === '' ? '' : `: ${detail}`}`;
}

function printDone(
  { remove }: SetupOptions,
  settingsPath: string,
  { next }: SetupPlan,
  changes: number,
  said: Said,
): void {
  if (remove) said.out(`removed ${plural(changes, 'resource')}`);
  else
    said.out(`${changes === 0 ? 'nothing to change' : plural(changes, 'change')}; the settings are in ${settingsPath}`);
  for (const line of next) said.out(`next: ${line}`);
}

function quotaLine({ region, name, code, value, unit, pending, requested }: QuotaReport): string {
  const waiting =
    pending === null ? '' : `, ${pending} ${requested ? 'requested now' : 'requested before, not granted yet'}`;
  const amount = unit === 'GB' ? `${value} GB` : plural(value, unit, unit === 'address' ? 'addresses' : undefined);
  return `${region}  ${name === code ? code : `${code}  ${name}`}: ${amount}${waiting}`;
}

async function confirm(ask: SetupOptions['ask']): Promise<void> {
  const typed = await ask('Carry this out? Type yes: ');
  if (typed?.trim() === 'yes') return;
  throw new RopewalkError({
    code: 'VALIDATION',
    message: 'not confirmed; nothing was changed',
    hint: 'Type yes when asked, or add --yes.',
  });
}
