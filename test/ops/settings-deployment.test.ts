// `ropewalk init` and `ropewalk setup` in different homes: they agree on the deployment's id, or the second one refuses.
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { afterEach, beforeEach, expect, it } from 'vitest';

import { findHost, loadHost } from '../../ops/host.ts';
import { runSetup } from '../../ops/setup.ts';
import { runCli } from '../cli/run-cli.ts';
import { awsFile } from '../providers/aws-cloud.ts';
import { gcpFile } from '../providers/gcp-cloud.ts';
import { makeHome, removeHome } from '../support/stack.ts';

let home = '';
beforeEach(async () => {
  home = await makeHome();
});
afterEach(() => removeHome(home));

const clouds = [
  { cloud: 'aws', variable: 'ROPEWALK_AWS_SETTINGS', file: awsFile },
  { cloud: 'gcp', variable: 'ROPEWALK_GCP_SETTINGS', file: gcpFile },
];

/** The settings of a setup in another home. */
async function settingsOf(file: object, deployment: string | null): Promise<string> {
  const path = join(home, 'cloud.json');
  await writeFile(path, JSON.stringify({ ...file, deployment }));
  return path;
}

async function setUp(cloud: string, settings: string, deployment?: string): Promise<{ code: number; text: string }> {
  const lines: string[] = [];
  const say = (line: string): void => void lines.push(line);
  const code = await runSetup(
    {
      ...{ env: {}, home, provider: cloud, deployment, name: 'rope-test', regions: [], network: null, subnets: [] },
      ...{ clientRanges: null, controlPlaneRole: null, project: null, bucket: null, settings, planOnly: true },
      ...{ remove: false, yes: true, format: 'table', ask: async () => null },
    },
    { out: say, err: say, json: () => undefined },
  );
  return { code, text: lines.join('\n') };
}

it.each(clouds)('init in a new home takes the deployment of the settings of $cloud', async ({ variable, file }) => {
  const settings = await settingsOf(file, 'dep_setup');
  // The Temporal server does not answer: the ids are compared before it is asked.
  const env = { ROPEWALK_HOME: home, HOME: home, [variable]: settings, TEMPORAL_ADDRESS: '127.0.0.1:1' };
  const { stderr } = await runCli(['init'], { env });
  expect(stderr).toContain('127.0.0.1:1 does not answer');
  expect((await findHost(home))?.deploymentId).toBe('dep_setup');
});

it.each(clouds)('init of another deployment refuses the settings of $cloud', async ({ cloud, variable, file }) => {
  const { deploymentId } = await loadHost(home);
  const settings = await settingsOf(file, 'dep_setup');
  const env = { ROPEWALK_HOME: home, HOME: home, [variable]: settings, TEMPORAL_ADDRESS: '127.0.0.1:1' };
  const { code, stderr } = await runCli(['init'], { env });
  expect([code, stderr]).toEqual([
    1,
    expect.stringContaining(`(${variable}) are those of deployment dep_setup; this is deployment ${deploymentId}`),
  ]);
  expect(stderr).toContain(`ropewalk setup ${cloud} --deployment ${deploymentId}`);
  expect((await readdir(home)).toSorted()).toEqual(['cloud.json', 'host.json']);
  // A file that was written by hand names none.
  await settingsOf(file, null);
  expect((await runCli(['init'], { env })).stderr).toContain('127.0.0.1:1 does not answer');
});

it.each(clouds)(
  'setup of $cloud refuses the settings of another deployment, and changes nothing',
  async ({ cloud, file }) => {
    const { deploymentId } = await loadHost(home);
    const settings = await settingsOf(file, 'dep_setup');
    const before = await readFile(settings, 'utf8');
    const { code, text } = await setUp(cloud, settings);
    expect([code, text]).toEqual([
      1,
      expect.stringContaining(`${settings} is of deployment dep_setup, and this setup of ${deploymentId}`),
    ]);
    expect(text).toContain('Continue that setup with --deployment dep_setup');
    expect(await readFile(settings, 'utf8')).toBe(before);
  },
);
