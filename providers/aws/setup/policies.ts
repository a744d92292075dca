// The IAM policies of a deployment, from the templates in ops/aws.
import { readFile } from 'node:fs/promises';

const folder = new URL('../../../ops/aws/', import.meta.url);

/** For the API and the Temporal workers: covers only resources with this deployment's tag, and only roles of this name. */
export async function controlPlanePolicy(input: {
  account: string;
  role: string;
  deploymentId: string;
}): Promise<string> {
  const policy: unknown = JSON.parse(await readFile(new URL('control-plane.json', folder), 'utf8'));
  const { account, role, deploymentId } = input;
  return JSON.stringify(policy, (key: string, value: unknown) => {
    if (/^aws:(Request|Resource)Tag\/ropewalk:deployment$/.test(key)) return deploymentId;
    if (typeof value !== 'string') return value;
    // Excludes the role that other accounts grant.
    return value.replace(/^arn:aws:iam::\*:role\/ropewalk(?=$|-\*$)/, `arn:aws:iam::${account}:role/${role}`);
  });
}

/** Lets instances write their logs. */
export async function instancePolicy(): Promise<string> {
  return JSON.stringify(JSON.parse(await readFile(new URL('instance.json', folder), 'utf8')));
}

export const instanceTrust = JSON.stringify({
  Version: '2012-10-17',
  Statement: [{ Effect: 'Allow', Principal: { Service: 'ec2.amazonaws.com' }, Action: 'sts:AssumeRole' }],
});
