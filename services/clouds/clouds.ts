// The enabled clouds, with the accounts of the caller's workspace and the findings of their checks. Accounts and checks of other workspaces are left
// out.
import { RopewalkError } from '../../domain/errors.ts';
import type { ProviderCheck } from '../../providers/manifest.ts';
import type { Cloud, CloudList } from '../../schema/clouds.ts';
import type { CloudFinding } from '../../store/cloud-check-port.ts';
import { requireScope } from '../auth/scopes.ts';
import type { Context, Deps } from '../context.ts';
import type { ServedProvider } from '../providers.ts';
import { time } from '../to-wire.ts';

/** Limit of a check, which calls a cloud whose client retries by itself. */
const answerWithinMs = 20_000;

/** @throws RopewalkError FORBIDDEN without the scope admin. */
export async function listClouds(context: Context): Promise<CloudList> {
  requireScope(context.actor, 'admin');
  return { items: await Promise.all(context.deps.providers.map((provider) => show(context, provider))) };
}

/**
 * Runs the checks of a cloud, and stores their findings.
 *
 * @throws RopewalkError FORBIDDEN without the scope admin, NOT_FOUND for a provider that is not enabled.
 */
export async function checkCloud(context: Context, { cloud }: { cloud: string }): Promise<Cloud> {
  const { deps, actor } = context;
  requireScope(actor, 'admin');
  const provider = deps.providers.find(({ manifest }) => manifest.name === cloud);
  if (provider === undefined) {
    throw new RopewalkError({
      code: 'NOT_FOUND',
      message: `The provider ${cloud} is not enabled on this control plane.`,
      hint: 'GET /v1/clouds lists those that are.',
    });
  }
  const checks = checksFor(context, provider);
  const findings = await Promise.all(checks.map((check) => run(deps, check, `request ${context.requestId}`)));
  await deps.store.cloudChecks.put(cloud, findings);
  return show(context, provider);
}

/** Interval of automatic checks. */
export const checkEveryMs = 3_600_000;

/**
 * Runs the checks of all workspaces' accounts that no replica has run for an hour, so an admin sees a fault before a launch fails. Two replicas may
 * run the same check; the newer finding stays.
 */
export async function checkDueClouds(
  deps: Pick<Deps, 'now' | 'deploymentId' | 'logger' | 'providers' | 'store'>,
): Promise<void> {
  for (const { manifest, checks = [] } of deps.providers) {
    try {
      const found = new Map((await deps.store.cloudChecks.list(manifest.name)).map(({ name, atMs }) => [name, atMs]));
      const isDue = ({ name }: ProviderCheck): boolean => deps.now() - (found.get(name) ?? 0) >= checkEveryMs;
      const findings = await Promise.all(checks.filter(isDue).map((check) => run(deps, check, `check ${check.name}`)));
      if (findings.length > 0) await deps.store.cloudChecks.put(manifest.name, findings);
    } catch (error) {
      deps.logger.warn({ err: error, provider: manifest.name }, 'the checks of a cloud could not be kept now');
    }
  }
}

/** A fault of a check itself becomes its finding, so the other checks still report theirs. */
async function run(
  deps: Pick<Deps, 'now' | 'deploymentId' | 'logger'>,
  check: ProviderCheck,
  of: string,
): Promise<CloudFinding> {
  const { name } = check;
  const atMs = deps.now();
  try {
    const found = await check.run(AbortSignal.timeout(answerWithinMs), deps.deploymentId);
    // A warning is no fault: for example, a check whose variables only the Temporal worker has.
    const text = typeof found === 'string' ? found : found.text;
    return { name, atMs, state: 'ok', text, fix: '' };
  } catch (error) {
    if (error instanceof RopewalkError) {
      return { name, atMs, state: 'broken', text: error.problem.message, fix: error.problem.hint ?? '' };
    }
    deps.logger.error({ err: error, check: name }, 'a check of a cloud failed');
    const fix = `Read the log of the API, ${of}.`;
    return { name, atMs, state: 'broken', text: 'The check could not be carried out.', fix };
  }
}

const checksFor = ({ actor }: Context, { checks = [] }: ServedProvider): readonly ProviderCheck[] =>
  checks.filter(({ workspace = null }) => workspace === null || workspace === actor.workspace);

async function show(context: Context, provider: ServedProvider): Promise<Cloud> {
  const { manifest, reader, places = [], accounts = [] } = provider;
  const found = new Map((await context.deps.store.cloudChecks.list(manifest.name)).map((each) => [each.name, each]));
  return {
    ...{ name: manifest.name, title: manifest.title, kind: manifest.kind },
    regions: places.flatMap(({ region }) =>
      region === null ? [] : [{ name: region, zones: [...reader.placeOf(region).zones] }],
    ),
    accounts: accounts
      .filter(({ workspace }) => workspace === null || workspace === context.actor.workspace)
      .map(({ workspace, account, detail }) => ({ workspace, account, detail })),
    checks: checksFor(context, provider).map(({ name }) => {
      const finding = found.get(name);
      if (finding === undefined) return { name, state: 'unchecked', text: '', fix: '', at: null };
      const { state, text, fix, atMs } = finding;
      return { name, state, text, fix, at: time(atMs) };
    }),
  };
}
