// `ropewalk setup aws`: plans the account's resources, applies the plan, and removes them again.
import { RopewalkError } from '../../../domain/errors.ts';
import type { ProviderSetup, SetupInput, SetupPlan } from '../../manifest.ts';
import { nodeDownloads } from '../../node-downloads.ts';
import { whoCalls } from '../caller.ts';
import { applyNetwork, type PreparedNetwork } from './apply-network.ts';
import { type Calls, changing, explained, identity, reading } from './calls.ts';
import { findNetwork } from './find-network.ts';
import { applyIdentity, findIdentity, roleNamed } from './identity.ts';
import { planIdentity, policyName } from './plan-identity.ts';
import { planNetwork } from './plan-network.ts';
import { controlPlanePolicy, instancePolicy } from './policies.ts';
import { readQuotas } from './quotas.ts';
import { planIdentityRemoval } from './remove-identity.ts';
import { carryOut, planNetworkRemoval } from './remove-network.ts';
import { addToSettings, regionsIn, removeFromSettings } from './settings-write.ts';

const defaultRegion = 'us-east-1';
const nodeReleases = 'https://nodejs.org/dist';
const pauseMs = 1_000;
const answerWithinMs = 30_000;

export const awsSetup: ProviderSetup = {
  deploymentIn: (path) => regionsIn(path)[0]?.deployment ?? null,
  plan,
  planRemoval,
  quotas: async ({ regions, settingsPath, request }) => {
    const all = await Promise.all(regionsOf(regions, settingsPath).map((region) => readQuotas(region, request)));
    return all.flat();
  },
};

async function plan(input: SetupInput): Promise<SetupPlan> {
  refuseForeign(input);
  const regions = regionsOf(input.regions, input.settingsPath);
  const [first = defaultRegion] = regions;
  if (input.network !== null && regions.length > 1) {
    const message = 'A network lies in one region.';
    throw new RopewalkError({ code: 'VALIDATION', message, hint: 'Name one --region with --network.' });
  }
  const account = await accountOf(first);
  const wanted = { ...input };
  const iam = identity();
  const identityWanted = {
    name: input.name,
    instancePolicy: await instancePolicy(),
    controlPlanePolicy: await controlPlanePolicy({ account, role: input.name, deploymentId: input.deploymentId }),
    controlPlaneRole: input.controlPlaneRole,
  };
  const networks = await Promise.all(
    regions.map(async (region) => {
      const found = await withClient(reading(region), (ec2) => findNetwork(ec2, region, wanted)).catch(
        (error: unknown) => {
          throw explained(`read the network of ${region}`, error);
        },
      );
      return { found, steps: planNetwork(found, wanted) };
    }),
  );
  const identitySteps = await withClient(iam, async () => {
    await requireRole(iam, input.controlPlaneRole);
    return planIdentity(await findIdentity(iam, account, wanted), identityWanted);
  }).catch((error: unknown) => {
    throw explained('read roles and policies', error);
  });
  return {
    account,
    steps: [...identitySteps, ...networks.flatMap(({ steps }) => steps)].map(({ change: _change, ...step }) => step),
    apply: async (onDone, signal) => {
      // First, because nothing can be launched without it and it must not fail at the end.
      const node = regionsIn(input.settingsPath)[0]?.node ?? (await nodeDownloads(mirrorOf(input)));
      const prepared: PreparedNetwork[] = [];
      await withCalls(first, signal, (calls) =>
        applyIdentity(calls, { wanted, identity: identityWanted, account }, identitySteps, onDone),
      );
      for (const { found, steps } of networks) {
        prepared.push(
          await withCalls(found.region, signal, (calls) => applyNetwork(calls, { found, wanted, steps }, onDone)),
        );
      }
      await addToSettings(input.settingsPath, prepared, {
        ...{ instanceProfile: input.name, node, deployment: input.deploymentId },
      });
    },
    next: nextSteps(input, account),
  };
}

async function planRemoval(input: SetupInput): Promise<SetupPlan> {
  const regions = regionsOf(input.regions, input.settingsPath);
  const [first = defaultRegion] = regions;
  const account = await accountOf(first);
  const wanted = { ...input, network: null, clientRanges: null };
  const networks = await Promise.all(
    regions.map(async (region) => ({
      region,
      removals: await withClient(reading(region), (ec2) => planNetworkRemoval(ec2, region, wanted)).catch(
        (error: unknown) => {
          throw explained(`read the network of ${region}`, error);
        },
      ),
    })),
  );
  // Instances of the other regions use the same role.
  const isLast = regionsIn(input.settingsPath).every(({ region }) => regions.includes(region));
  const iam = identity();
  const identityRemovals = isLast ? await withClient(iam, () => planIdentityRemoval(iam, account, wanted)) : [];
  return {
    account,
    steps: [...networks.flatMap(({ removals }) => removals), ...identityRemovals].map(({ step }) => step),
    apply: async (onDone, signal) => {
      for (const { region, removals } of networks) {
        await withCalls(region, signal, (calls) => carryOut(calls, removals, onDone));
      }
      await withCalls(first, signal, (calls) => carryOut(calls, identityRemovals, onDone));
      await removeFromSettings(input.settingsPath, regions);
    },
    next: isLast ? ['Log groups ropewalk/... stay for their 30 days; service-linked roles stay.'] : [],
  };
}

function refuseForeign({ project, bucket }: SetupInput): void {
  if (project === null && bucket === null) return;
  const message = `${project === null ? '--bucket' : '--project'} is an option of setup gcp.`;
  throw new RopewalkError({ code: 'VALIDATION', message, hint: 'Leave it away.' });
}

function nextSteps({ settingsPath, name, controlPlaneRole }: SetupInput, account: string): string[] {
  const arn = `arn:aws:iam::${account}:policy/${policyName(name)}`;
  return [
    `Set ROPEWALK_AWS_SETTINGS=${settingsPath} for the API, every Temporal worker and ropewalk init.`,
    ...(controlPlaneRole === null
      ? [`Give their AWS identity the policy ${arn}: aws iam attach-role-policy --role-name ROLE --policy-arn ${arn}`]
      : []),
    'Run ropewalk init, start the API and the Temporal workers, then ropewalk doctor.',
    'Run ropewalk setup aws --quotas: a new account may have 5 vCPUs.',
  ];
}

function regionsOf(named: readonly string[], settingsPath: string): string[] {
  if (named.length > 0) return [...new Set(named)];
  const known = regionsIn(settingsPath).map(({ region }) => region);
  return known.length > 0 ? known : [defaultRegion];
}

async function accountOf(region: string): Promise<string> {
  try {
    return (await whoCalls(region, AbortSignal.timeout(answerWithinMs))).account;
  } catch (cause) {
    const message = `AWS does not accept the credentials of this process: ${cause instanceof Error ? cause.message : String(cause)}`;
    const hint = 'Set AWS_PROFILE, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY; in AWS CloudShell they are there.';
    throw new RopewalkError({ code: 'UNAVAILABLE', message, hint }, { cause });
  }
}

async function requireRole(iam: ReturnType<typeof identity>, role: string | null): Promise<void> {
  if (role === null || (await roleNamed(iam, role)) !== null) return;
  const message = `The account has no role ${role}.`;
  throw new RopewalkError({ code: 'NOT_FOUND', message, hint: 'Name an existing role with --control-plane-role.' });
}

const mirrorOf = ({ env }: SetupInput): string => env['ROPEWALK_NODE_MIRROR'] ?? nodeReleases;

async function withClient<C extends { destroy(): void }, T>(client: C, use: (client: C) => Promise<T>): Promise<T> {
  try {
    return await use(client);
  } finally {
    client.destroy();
  }
}

async function withCalls<T>(region: string, signal: AbortSignal, use: (calls: Calls) => Promise<T>): Promise<T> {
  const [ec2, iam] = [changing(region), identity()];
  return withClient(ec2, () => withClient(iam, () => use({ ec2, iam, pauseMs, signal })));
}
