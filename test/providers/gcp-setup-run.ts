// `ropewalk setup gcp` in the process of a test, against the emulated project.
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { runQuotas, runSetup, type SetupOptions } from '../../ops/setup.ts';
import type { GcpEmulator } from '../emulator/gcp/emulator.ts';

export const deployment = 'dep_setup';
export const nodeHash = 'a'.repeat(64);

export interface Ran {
  code: number;
  out: string;
  err: string;
}

export interface GcpSetupRunner {
  /** The path of the written settings. */
  settings: string;
  setup: (changes?: Partial<SetupOptions>) => Promise<Ran>;
  quotas: (request: number | null, project?: string) => Promise<Ran>;
  close(): Promise<void>;
}

export async function prepareSetup({ url }: Pick<GcpEmulator, 'url'>): Promise<GcpSetupRunner> {
  const home = await mkdtemp(join(tmpdir(), 'ropewalk-setup-'));
  const mirror = createServer((request, response) => {
    const version = request.url?.split('/')[1];
    const archives = ['linux-x64', 'linux-arm64'];
    response.end(archives.map((archive) => `${nodeHash}  node-${version}-${archive}.tar.xz\n`).join(''));
  });
  await new Promise<void>((resolve) => mirror.listen(0, '127.0.0.1', resolve));
  const { port } = mirror.address() as AddressInfo;
  const services = ['COMPUTE', 'IAM', 'CLOUDRESOURCEMANAGER', 'SERVICEUSAGE', 'STORAGE'];
  const env = {
    ROPEWALK_NODE_MIRROR: `http://127.0.0.1:${port}`,
    GOOGLE_CLOUD_PROJECT: 'test-project',
    ...Object.fromEntries(services.map((each) => [`CLOUDSDK_API_ENDPOINT_OVERRIDES_${each}`, `${url}/`])),
  };
  const common = { env, home, provider: 'gcp', regions: [] };
  const ran = async (run: (said: Parameters<typeof runSetup>[1]) => Promise<number>): Promise<Ran> => {
    const [out, err]: [string[], string[]] = [[], []];
    const code = await run({
      out: (text) => out.push(text),
      err: (text) => err.push(text),
      json: (value) => out.push(JSON.stringify(value)),
    });
    return { code, out: out.join('\n'), err: err.join('\n') };
  };
  return {
    settings: join(home, 'gcp.json'),
    setup: (changes = {}) =>
      ran((said) =>
        runSetup(
          {
            ...{ ...common, deployment, name: 'rope-test', network: null, subnets: [], clientRanges: null },
            ...{ controlPlaneRole: null, project: null, bucket: 'rope-objects', planOnly: false, remove: false },
            ...{ yes: true, format: 'table' as const, ask: async () => null },
            ...changes,
          },
          said,
        ),
      ),
    quotas: (request, project) =>
      ran((said) => runQuotas({ ...common, project: project ?? null, request, format: 'table' }, said)),
    async close() {
      mirror.closeAllConnections();
      mirror.close();
      await rm(home, { recursive: true, force: true });
    },
  };
}

export interface Made {
  networks: string[];
  subnetworks: string[];
  rules: string[];
  accounts: string[];
  roles: string[];
  grants: string[];
  buckets: string[];
}

/** The existing resources of setup; deleted roles do not count. */
export async function madeIn(emulator: GcpEmulator): Promise<Made> {
  const { networks, subnetworks, firewalls, accounts, roles, policies, buckets } = await emulator.project();
  const isOurs = (name: string): boolean => name.startsWith('rope-') || name.startsWith('rope_');
  return {
    networks: networks.map(({ name }) => name).filter(isOurs),
    subnetworks: subnetworks.filter(({ name }) => isOurs(name)).map(({ region }) => region),
    rules: firewalls.map(({ name }) => name).filter(isOurs),
    accounts: accounts.map((email) => email.replace(/@.*/, '')).filter(isOurs),
    roles: roles.filter(({ deleted }) => !deleted).map(({ id }) => id),
    grants: Object.entries(policies).flatMap(([on, { bindings }]) =>
      bindings.flatMap(({ role, members }) =>
        members
          .filter((member) => isOurs(member.replace('serviceAccount:', '')))
          .map((member) => `${on.replace(/@.*/, '')} ${role.split('/').at(-1)} ${member.replace(/@.*/, '')}`),
      ),
    ),
    buckets,
  };
}

export const complete: Made = {
  networks: ['rope-test'],
  subnetworks: ['us-central1'],
  rules: ['rope-test-cluster', 'rope-test-scheduler'],
  accounts: ['rope-test', 'rope-test-control-plane'],
  roles: ['rope_test_control_plane', 'rope_test_instance', 'rope_test_object_store'],
  grants: [
    'project rope_test_control_plane serviceAccount:rope-test-control-plane',
    'project rope_test_instance serviceAccount:rope-test',
    'account:rope-test iam.serviceAccountUser serviceAccount:rope-test-control-plane',
    'bucket:rope-objects rope_test_object_store serviceAccount:rope-test-control-plane',
    'account:rope-test-control-plane iam.serviceAccountTokenCreator serviceAccount:rope-test-control-plane',
  ],
  buckets: ['rope-objects'],
};

export const nothing: Made = {
  networks: [],
  subnetworks: [],
  rules: [],
  accounts: [],
  roles: [],
  grants: [],
  buckets: [],
};
