// Ropewalk's IAM policies, checked by parliament, a linter by other authors with AWS's list of actions, resources and condition keys.
import { execFile } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

import { expect, it } from 'vitest';

import { lintPython } from './python.ts';

const folder = fileURLToPath(new URL('../../../ops/aws/', import.meta.url));
const script = `
import json, sys
from parliament import analyze_policy_string
found = [[f.issue, f.detail] for f in analyze_policy_string(open(sys.argv[1]).read()).findings]
print(json.dumps(found, default=str))
`;

async function findingsOf(path: string): Promise<[issue: string, detail: unknown][]> {
  const { stdout } = await promisify(execFile)(await lintPython(), ['-c', script, path]);
  return JSON.parse(stdout);
}

/**
 * parliament requires every statement to name all resources of an action. Ropewalk's policies separate created and used resources
 * into two statements, because only created resources have conditions. A public parameter belongs to no account.
 */
const isSplit = ([issue]: [string, unknown]): boolean => issue === 'RESOURCE_MISMATCH';

it.each(readdirSync(folder).filter((name) => name.endsWith('.json')))(
  '%s: every action, resource and condition exists',
  async (name) => {
    const findings = await findingsOf(`${folder}${name}`);
    expect(findings.filter((each) => !isSplit(each))).toEqual([]);
  },
);

it('finds an action and a condition that do not exist', async () => {
  const statement = { Effect: 'Allow', Action: 'ec2:LaunchRockets', Resource: '*' };
  const { stdout } = await promisify(execFile)(await lintPython(), [
    '-c',
    script.replace('open(sys.argv[1]).read()', 'sys.argv[1]'),
    JSON.stringify({ Version: '2012-10-17', Statement: [statement] }),
  ]);
  expect(stdout).toContain('UNKNOWN_ACTION');
});
