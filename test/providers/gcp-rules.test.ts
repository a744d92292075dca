// Rules of the Compute Engine provider that need no cloud: identity tokens, error codes, names, the request of a launch, offers.
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { Server } from 'node:http';

import { exportJWK, generateKeyPair, SignJWT } from 'jose';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { gceAudience, gceInstanceId } from '../../domain/cloud-names.ts';
import { chooseTypes } from '../../domain/offers/choose.ts';
import { parseRequirements } from '../../domain/offers/requirements.ts';
import type { RequirementsInput } from '../../domain/offers/requirements.ts';
import { bulkInsertBody } from '../../providers/gcp/bulk-insert.ts';
import { attachedGpus, catalogueTypes, offersOf } from '../../providers/gcp/catalogue.ts';
import { classify, knownCodes } from '../../providers/gcp/errors.ts';
import { gcpFamilies } from '../../providers/gcp/families.ts';
import { createIdentityVerifier } from '../../providers/gcp/identity.ts';
import { gcpRefusal } from '../../providers/gcp/refusals.ts';
import { instanceName, isOwnName, requestIdOf } from '../../providers/gcp/names.ts';
import type { LaunchRequest } from '../../providers/provider.ts';
import { freshOwner, gcpSettings, placement, workersRequest } from './gcp-cloud.ts';

interface Claims {
  audience?: string;
  expiresIn?: string;
  issuer?: string;
  project?: string | null;
  otherKey?: boolean;
}

describe('an identity token', () => {
  let server: Server;
  let keysUrl: string;
  let sign: (claims: Claims) => Promise<string>;
  beforeAll(async () => {
    const [own, other] = [await generateKeyPair('RS256'), await generateKeyPair('RS256')];
    const body = JSON.stringify({ keys: [{ ...(await exportJWK(own.publicKey)), kid: '1', alg: 'RS256' }] });
    server = createServer((_, response) => response.end(body)).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const address = server.address();
    keysUrl = `http://127.0.0.1:${address !== null && typeof address === 'object' ? address.port : 0}/`;
    sign = ({ project = 'test-project', otherKey = false, ...claims }) => {
      const engine = {
        ...{ project_id: project, zone: 'us-central1-a', instance_name: 'rw-0123456789-0123456789-1' },
        instance_creation_timestamp: 1_790_000_000,
      };
      return new SignJWT(project === null ? {} : { google: { compute_engine: engine } })
        .setProtectedHeader({ alg: 'RS256', kid: '1' })
        .setIssuer(claims.issuer ?? 'https://accounts.google.com')
        .setAudience(claims.audience ?? gceAudience('d_1'))
        .setIssuedAt()
        .setExpirationTime(claims.expiresIn ?? '1h')
        .sign((otherKey ? other : own).privateKey);
    };
  });
  afterAll(() => void server.close());

  const verify = (token: string): Promise<unknown> =>
    createIdentityVerifier('test-project', keysUrl).verify({ document: token, signature: '' }, 'd_1');

  it('names the instance that Google signed it for', async () => {
    const named = { instanceId: 'rw-0123456789-0123456789-1', pendingAtMs: 1_790_000_000_000 };
    expect(await verify(await sign({}))).toEqual(named);
  });

  it.each<[string, Claims, RegExp]>([
    ['is for another deployment', { audience: gceAudience('d_2') }, /not valid/],
    ['has expired', { expiresIn: '-1m' }, /not valid/],
    ['is of another issuer', { issuer: 'https://accounts.example.com' }, /not valid/],
    ['is of another project', { project: 'other-project' }, /another project/],
    ['is signed with another key', { otherKey: true }, /not valid/],
    ['names no instance', { project: null }, /does not name an instance/],
  ])('is refused when it %s', async (_, claims, problem) => {
    expect(await verify(await sign(claims))).toEqual({ problem: expect.stringMatching(problem) });
  });

  it('is refused when it is not a token', async () => {
    expect(await verify('{}')).toEqual({ problem: expect.stringContaining('not valid') });
  });
});

describe('the error table of Compute Engine', () => {
  it('has a scope and a sentence for every code, and shows what it does not know', () => {
    for (const code of knownCodes) {
      const { text, known } = classify(code, 'Google says so');
      expect([code, known, text.length > 20, text.includes('Google says so')]).toEqual([code, true, true, true]);
    }
    expect(classify('SOMETHING_NEW', 'hm')).toMatchObject({ scope: 'unknown', known: false });
    expect(classify('QUOTA_EXCEEDED', "Quota 'GPUS_ALL_REGIONS' exceeded.").text).toContain('in all regions');
    expect(classify('forbidden', 'Rate Limit Exceeded').scope).toBe('throttle');
    const noBilling = 'Project my-project (#1) has billing disabled. Please enable it.';
    expect(classify('forbidden', noBilling)).toMatchObject({
      scope: 'account',
      text: expect.stringMatching(/^Billing/),
    });
    expect(classify('required', 'Login Required').scope).toBe('account');
    expect(classify('required', "Required field 'resource.count' not specified").scope).toBe('request');
    expect(classify('ZONE_RESOURCE_POOL_EXHAUSTED', '').scope).toBe('offer');
  });
});

describe('names of Compute Engine', () => {
  it('say the owner, the launch and the slot', () => {
    const [owner, other] = [freshOwner(), freshOwner()];
    const name = instanceName(owner, 'launch 1', 7);
    expect(name).toMatch(gceInstanceId);
    expect([isOwnName(owner, name), isOwnName(other, name)]).toEqual([true, false]);
    expect(instanceName(owner, 'launch 2', 7)).not.toBe(name);
    expect(requestIdOf('a', 1)).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-a[0-9a-f]{3}-[0-9a-f]{12}$/);
  });
});

describe('what Compute Engine cannot do', () => {
  const asked = { workerTypes: ['c4-standard-2'], tags: {}, workerDiskThroughput: null };

  it('is a tag that is no label', () => {
    expect(gcpRefusal({ ...asked, tags: { team: 'red', 'cost-center_1': '' } })).toBeNull();
    for (const tags of [
      { Team: 'red' },
      { team: 'Red' },
      { 'a:b': 'c' },
      { '1st': 'a' },
      { 'ropewalk-cluster': '1' },
    ]) {
      expect(gcpRefusal({ ...asked, tags })).toMatchObject({
        field: 'tags',
        message: expect.stringContaining('labels'),
      });
    }
    const many = Object.fromEntries(Array.from({ length: 61 }, (_, at) => [`tag-${at}`, '']));
    expect(gcpRefusal({ ...asked, tags: many })).toMatchObject({ field: 'tags' });
  });

  it('is a throughput of disks that have none, or another than they can have', () => {
    const of = (workerDiskThroughput: number, workerTypes = asked.workerTypes) =>
      gcpRefusal({ ...asked, workerTypes, workerDiskThroughput });
    expect(of(300)).toBeNull();
    expect(of(300, ['c4-standard-2', 'n2-standard-2'])).toMatchObject({
      field: 'diskThroughput',
      message: 'Disks of n2-standard-2 have no throughput of their own: it grows with their size.',
    });
    expect(of(125)).toMatchObject({ field: 'diskThroughput' });
    expect(of(3_000)).toMatchObject({ field: 'diskThroughput' });
  });
});

describe('a request of bulkInsert', () => {
  const bodyOf = (request: LaunchRequest) => {
    const worker = request.placement?.worker ?? placement();
    const names = request.slots.map(({ slot }) => instanceName(request.owner, request.token, slot));
    return bulkInsertBody(gcpSettings, { request, role: 'worker', placement: worker, zones: ['us-central1-b'], names });
  };

  it('names the service account of the workspace, else that of the settings', () => {
    const own = 'research@test-project.iam.gserviceaccount.com';
    const emailOf = (workspace: string): string | null | undefined => {
      const owner = { ...freshOwner(), workspace };
      const settings = { ...gcpSettings, workspaceServiceAccounts: { research: own } };
      const request = workersRequest(owner, 1);
      const insert = {
        request,
        role: 'worker' as const,
        placement: placement(),
        zones: ['us-central1-b'],
        names: ['a'],
      };
      return bulkInsertBody(settings, insert).instanceProperties?.serviceAccounts?.[0]?.email;
    };
    expect(['research', 'default', 'constructor'].map(emailOf)).toEqual([
      own,
      gcpSettings.serviceAccount,
      gcpSettings.serviceAccount,
    ]);
  });

  it('has the launch token only in the metadata of its instances, and lets Google delete them in the end', () => {
    const body = bodyOf(workersRequest(freshOwner(), 2, 'launch', placement({ market: 'spot' })));
    const { metadata, ...rest } = body.instanceProperties ?? {};
    expect(JSON.stringify(metadata)).toContain('a launch token');
    expect(JSON.stringify({ ...body, instanceProperties: rest })).not.toContain('a launch token');
    expect(rest.scheduling).toEqual({
      ...{ provisioningModel: 'SPOT', instanceTerminationAction: 'DELETE', automaticRestart: false },
      ...{ onHostMaintenance: 'TERMINATE', maxRunDuration: { seconds: 30 * 86_400 } },
    });
    expect(body.locationPolicy?.locations).toEqual({
      'zones/us-central1-a': { preference: 'DENY' },
      'zones/us-central1-b': { preference: 'ALLOW' },
      'zones/us-central1-c': { preference: 'DENY' },
    });
  });

  it('lists its zones where one is for AI, which Google does not take in the map of zones', () => {
    const zones = ['us-central1-a', 'us-central1-ai1a', 'us-central1-b'];
    const body = bulkInsertBody(
      { ...gcpSettings, zones },
      {
        ...{ request: workersRequest(freshOwner(), 1), role: 'worker', placement: placement(), names: ['rw-x'] },
        zones: ['us-central1-ai1a', 'us-central1-b'],
      },
    );
    const named = [{ zone: 'zones/us-central1-ai1a' }, { zone: 'zones/us-central1-b' }];
    expect(body.locationPolicy).toEqual({ targetShape: expect.any(String), zones: named });
  });

  it("has the user's tags as labels of instances and disks, and the throughput of disks that have one", () => {
    const worker = placement({ types: ['c4-standard-2'], diskThroughput: 300 });
    const request = workersRequest(freshOwner(), 1, 'tags', worker);
    if (request.placement !== undefined) request.placement.tags = { team: 'red', 'ropewalk-cluster': '999' };
    const { labels, disks } = bodyOf(request).instanceProperties ?? {};
    expect(labels).toMatchObject({ team: 'red', 'ropewalk-cluster': String(request.owner.cluster) });
    const [disk] = disks ?? [];
    expect(disk?.initializeParams).toMatchObject({ provisionedThroughput: 300, labels: { team: 'red' } });
    const pd = workersRequest(freshOwner(), 1, 'pd', placement({ types: ['n2-standard-2'], diskThroughput: 300 }));
    expect(bodyOf(pd).instanceProperties?.disks?.[0]?.initializeParams).not.toHaveProperty('provisionedThroughput');
  });

  it('attaches a GPU to an N1 type, and ranks types with the disk that each takes', () => {
    const gpu = bodyOf(workersRequest(freshOwner(), 1, 'gpu', placement({ types: ['n1-standard-4+nvidia-tesla-t4'] })));
    expect(gpu.instanceProperties).toMatchObject({
      machineType: 'n1-standard-4',
      guestAccelerators: [{ acceleratorType: 'nvidia-tesla-t4', acceleratorCount: 1 }],
    });
    const types = ['n2-standard-2', 'c4-standard-2'];
    const both = bodyOf(workersRequest(freshOwner(), 1, 'two', placement({ types })));
    const selections = Object.values(both.instanceFlexibilityPolicy?.instanceSelections ?? {});
    expect(
      selections.map(({ machineTypes, rank, disks }) => [machineTypes, rank, disks?.[0]?.initializeParams?.diskType]),
    ).toEqual([
      [['n2-standard-2'], 0, 'pd-balanced'],
      [['c4-standard-2'], 1, 'hyperdisk-balanced'],
    ]);
    // Google replaces the boot disk of the properties by the selection's of the same name.
    const devices = [both.instanceProperties, ...selections].map((of) => of?.disks?.[0]?.deviceName);
    expect(devices).toEqual(['boot', 'boot', 'boot']);
  });
});

describe('the table of machine types', () => {
  const gpus = Object.keys(attachedGpus);
  const offers = catalogueTypes().flatMap((type) =>
    offersOf({ region: 'us-central1', zone: 'us-central1-a', isListed: false }, type, gpus),
  );
  const choose = (requirements: RequirementsInput) =>
    chooseTypes(offers, parseRequirements(requirements), { market: 'on-demand', zones: [], families: gcpFamilies });

  it('has types for CPUs and memory, for ARM, and for a GPU by the name of either cloud', () => {
    expect(choose({ cpu: 4, memory: '16 GiB' }).map(({ type }) => type)).toContain('n2-standard-4');
    expect(choose({ gpuType: 'nvidia-tesla-t4', cpu: 4 })[0]?.type).toBe('n1-standard-4+nvidia-tesla-t4');
    expect(choose({ gpuType: 'L4', cpu: 4 })[0]?.type).toBe('g2-standard-4');
    expect(choose({ cpu: 4, arm: true })[0]?.architecture).toBe('arm64');
  });

  it('says what comes near when nothing fits', () => {
    expect(() => choose({ cpu: 1, memory: '32 GiB' })).toThrow('There is no instance type with 1 vCPU and 32.00 GiB');
  });
});
