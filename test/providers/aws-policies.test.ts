// The IAM policies of ops/aws against the code: every call that it can send is allowed, nothing more is granted, and changes and
// deletions are limited to resources with Ropewalk's tag.
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

import { describe, expect, it } from 'vitest';
import { z } from 'zod';

const repository = fileURLToPath(new URL('../..', import.meta.url));
const list = z.union([z.string(), z.array(z.string())]).transform((value) => [value].flat());
const policy = z.strictObject({
  Version: z.literal('2012-10-17'),
  Statement: z.array(
    z.strictObject({
      Sid: z.string().regex(/^[A-Za-z0-9]+$/),
      Effect: z.literal('Allow'),
      Action: list,
      Resource: list,
      Condition: z.record(z.string(), z.record(z.string(), list)).optional(),
    }),
  ),
});
const read = (name: string) => policy.parse(JSON.parse(readFileSync(`${repository}/ops/aws/${name}.json`, 'utf8')));
const actionsOf = ({ Statement }: z.infer<typeof policy>): string[] => [
  ...new Set(Statement.flatMap(({ Action }) => Action)),
];
const sorted = (names: Iterable<string>): string[] => [...names].toSorted((a, b) => a.localeCompare(b));

/** Each call of the AWS SDK in a folder, as IAM names it. */
function callsIn(folder: string): Set<string> {
  const calls = new Set<string>();
  for (const file of readdirSync(`${repository}/${folder}`)) {
    if (!file.endsWith('.ts')) continue;
    const text = readFileSync(`${repository}/${folder}/${file}`, 'utf8');
    for (const [, names = '', service = ''] of text.matchAll(
      /import \{([^}]*)\} from '@aws-sdk\/client-([a-z0-9-]+)';/g,
    )) {
      for (const [, command, paginated] of names.matchAll(/\b(?:([A-Z]\w+)Command|paginate([A-Z]\w+))\b/g)) {
        calls.add(`${prefixes[service] ?? service}:${command ?? paginated}`);
      }
    }
  }
  return calls;
}

const prefixes: Record<string, string> = {
  'secrets-manager': 'secretsmanager',
  'cloudwatch-logs': 'logs',
  'service-quotas': 'servicequotas',
};
/** Checked by AWS beside the call that needs them; no code sends them. */
const dependent = ['ec2:CreateTags', 'iam:PassRole'];
/** Allowed to every identity. */
const free = ['sts:GetCallerIdentity'];

describe('the policy of the control plane', () => {
  const control = read('control-plane');

  it('allows every call that the provider sends, what those need besides, and nothing more', () => {
    const sent = [...callsIn('providers/aws')].filter((call) => !free.includes(call));
    expect(sent.length).toBeGreaterThan(15);
    expect(sorted(actionsOf(control))).toEqual(sorted([...sent, ...dependent]));
  });

  it('deletes and changes only what has the tag of a deployment, and tags only what it creates', () => {
    for (const { Action, Condition, Resource } of control.Statement) {
      const conditions = JSON.stringify(Condition ?? {});
      if (Action.some((action) => /:(Delete|Terminate|Authorize)/.test(action))) {
        expect(conditions).toContain('aws:ResourceTag/ropewalk:deployment');
      }
      if (Action.includes('ec2:CreateTags')) expect(conditions).toMatch(/ec2:CreateAction.*aws:RequestTag/);
      if (Action.includes('iam:PassRole')) expect(conditions).toContain('iam:PassedToService');
      // AWS has no resources for read-only actions.
      const isReading = (action: string): boolean =>
        action.startsWith('ec2:Describe') || action === 'servicequotas:GetServiceQuota';
      if (!Action.every(isReading)) expect(Resource).not.toContain('*');
    }
  });

  it('creates instances, volumes and groups with tags only', () => {
    for (const [action, kinds] of [
      ['ec2:RunInstances', ['instance', 'volume', 'spot-instances-request']],
      ['ec2:CreateFleet', ['fleet']],
      ['ec2:CreateSecurityGroup', ['security-group']],
      ['ec2:CreateLaunchTemplate', ['launch-template']],
    ] as const) {
      const untagged = control.Statement.filter(
        ({ Action, Condition }) => Action.includes(action) && Condition === undefined,
      ).flatMap(({ Resource }) => Resource);
      for (const kind of kinds) expect(untagged).not.toContain(`arn:aws:ec2:*:*:${kind}/*`);
    }
  });
});

describe('the policy of instances', () => {
  it('allows the calls of the agent, on log groups of Ropewalk only', () => {
    const text = readFileSync(`${repository}/agent/aws/logs-api.ts`, 'utf8');
    const sent = new Set([...text.matchAll(/'((?:Create|Put)[A-Za-z]+)'/g)].map(([, name]) => `logs:${name}`));
    const instance = read('instance');
    expect(sorted(actionsOf(instance))).toEqual(sorted(sent));
    for (const { Resource } of instance.Statement) {
      for (const arn of Resource) expect(arn).toMatch(/^arn:aws:logs:\*:\*:log-group:ropewalk\//);
    }
  });
});

describe('the policy of keys in a secret', () => {
  it('allows to read that secret, and nothing more', () => {
    const { Statement } = read('keys-secret');
    expect([...callsIn('platform')]).toEqual(['secretsmanager:GetSecretValue']);
    expect(Statement.map(({ Action, Resource, Condition }) => [Action, Resource, Condition])).toEqual([
      [['secretsmanager:GetSecretValue'], ['arn:aws:secretsmanager:*:*:secret:NAME'], undefined],
    ]);
  });
});

describe('the policy of setup', () => {
  const setUp = read('set-up');

  it('allows every call that setup sends, what those need besides, and nothing more', () => {
    const sent = [...callsIn('providers/aws/setup')];
    const besides = ['ec2:CreateTags', 'iam:PassRole', 'iam:TagInstanceProfile', 'iam:TagPolicy', 'iam:TagRole'];
    expect(sent.length).toBeGreaterThan(40);
    expect(sorted(actionsOf(setUp))).toEqual(sorted([...sent, ...besides]));
  });

  it('changes and deletes only what has the tag of a deployment, and in IAM only what has its names', () => {
    for (const { Action, Condition, Resource } of setUp.Statement) {
      const isChange = Action.some((action) => /:(Delete|Modify|Attach|Detach|Revoke|Put|Remove)/.test(action));
      if (!isChange) continue;
      if (Action[0]?.startsWith('ec2:') === true) {
        expect(JSON.stringify(Condition)).toContain('aws:ResourceTag/ropewalk:deployment');
      } else expect(JSON.stringify([Resource, Condition])).toContain('/ropewalk');
    }
  });

  it('has the service-linked roles of spot instances and fleets', () => {
    const names = setUp.Statement.flatMap(({ Condition }) => Condition?.['StringEquals']?.['iam:AWSServiceName'] ?? []);
    expect(names).toEqual(['spot.amazonaws.com', 'ec2fleet.amazonaws.com']);
  });
});
