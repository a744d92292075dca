// The Terraform module of a project, run by Terraform or OpenTofu itself where one is installed: it reads, validates, applies and destroys the
// module with stand-ins for the resources of Google's provider, and computes the values that gcp-terraform.test.ts computes.
import { execFile, execFileSync } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

import { expect, it } from 'vitest';
import { z } from 'zod';

import { evaluated } from './terraform-values.ts';

const program = ['tofu', 'terraform'].find((name) => {
  try {
    return execFileSync(name, ['version']).byteLength > 0;
  } catch {
    return false;
  }
});

const block = z.record(z.string(), z.unknown());
const moduleText = z.looseObject({
  terraform: z.looseObject({}),
  resource: z.record(z.string(), z.record(z.string(), block)),
});
const meta = ['count', 'for_each', 'depends_on'];

/** Attributes that Google's provider computes, in the forms of its documentation. */
function computed(type: string, own: Record<string, unknown>): Record<string, string> {
  const text = (key: string): string => String(own[key]);
  const at = `projects/${text('project')}`;
  if (type === 'google_compute_network') return { id: `${at}/global/networks/${text('name')}` };
  if (type === 'google_project_iam_custom_role') return { name: `${at}/roles/${text('role_id')}` };
  if (type !== 'google_service_account') return {};
  const email = `${text('account_id')}@${text('project')}.iam.gserviceaccount.com`;
  return { email, name: `${at}/serviceAccounts/${email}` };
}

/** Replaces each resource by one of Terraform's own, whose output is its input. */
function standIns(text: string): unknown {
  const { resource, terraform, ...rest } = moduleText.parse(JSON.parse(text));
  const resources = Object.entries(resource).flatMap(([type, named]) =>
    Object.entries(named).map(([name, attributes]): [string, object] => {
      const own = Object.fromEntries(Object.entries(attributes).filter(([key]) => !meta.includes(key)));
      const others = Object.fromEntries(Object.entries(attributes).filter(([key]) => meta.includes(key)));
      return [`${type}__${name}`, { ...others, input: { ...own, ...computed(type, own) } }];
    }),
  );
  const { required_version } = terraform;
  const whole = {
    ...rest,
    terraform: { required_version },
    resource: { terraform_data: Object.fromEntries(resources) },
  };
  return JSON.parse(
    JSON.stringify(whole)
      .replaceAll(/(google_\w+)\.(\w+)((?:\[0\])?)\.(id|name|email)\b/g, 'terraform_data.$1__$2$3.output.$4')
      .replaceAll('"google_project_service.api"', '"terraform_data.google_project_service__api"'),
  );
}

const shown = z.object({
  values: z.object({
    outputs: z.object({ setup: z.object({ value: z.string() }) }),
    root_module: z.object({
      resources: z.array(z.object({ name: z.string(), values: z.object({ input: block }) })),
    }),
  }),
});

it.skipIf(program === undefined)('is valid, and makes what setup makes', { timeout: 300_000 }, async () => {
  const directory = await mkdtemp(join(tmpdir(), 'ropewalk-terraform-'));
  // Nothing is downloaded, and the machine's configuration is not used.
  const env = { PATH: process.env['PATH'], HOME: directory, CHECKPOINT_DISABLE: '1', TF_IN_AUTOMATION: '1' };
  const run = async (...words: string[]): Promise<string> =>
    (await promisify(execFile)(program ?? '', words, { cwd: directory, env })).stdout;
  const text = await readFile(new URL('../../ops/gcp/terraform/main.tf.json', import.meta.url), 'utf8');
  try {
    await writeFile(join(directory, 'main.tf.json'), JSON.stringify(standIns(text)));
    await run('init', '-input=false', '-no-color');
    expect(JSON.parse(await run('validate', '-json'))).toMatchObject({ valid: true, error_count: 0, warning_count: 0 });
    for (const bucket of ['my-bucket', null]) {
      const variables = {
        ...{ project: 'my-project', deployment_id: 'dep_1', name: 'rope-test', bucket },
        ...{ regions: ['us-central1', 'europe-west4'], client_ranges: ['203.0.113.0/24'] },
      };
      await writeFile(join(directory, 'terraform.tfvars.json'), JSON.stringify(variables));
      await run('apply', '-auto-approve', '-input=false', '-no-color');
      const { values } = shown.parse(JSON.parse(await run('show', '-json')));
      const made = evaluated(JSON.parse(text), variables);
      const types = Object.keys(moduleText.parse(JSON.parse(text)).resource);
      const byText = (each: unknown[]): string[] => each.map((one) => JSON.stringify(sorted(one))).toSorted();
      for (const type of types) {
        const really = values.root_module.resources.filter(({ name }) => name.startsWith(`${type}__`));
        const expected = made(type).map((own) => ({ ...own, ...computed(type, own) }));
        expect([type, byText(really.map(({ values: { input } }) => input))]).toEqual([type, byText(expected)]);
      }
      expect(values.outputs.setup.value).toBe(
        `ropewalk setup gcp --project my-project --deployment dep_1 --name rope-test --region us-central1,europe-west4${bucket === null ? '' : ' --bucket my-bucket'}`,
      );
    }
    await run('destroy', '-auto-approve', '-input=false', '-no-color');
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
});

/** With sorted keys. */
const sorted = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([, each]) => each !== null)
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, each]) => [key, sorted(each)]),
  );
};
