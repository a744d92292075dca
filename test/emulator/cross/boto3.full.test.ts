// The emulator's answers, read by boto3, AWS's SDK for Python: it parses by AWS's own description of each answer, and less
// leniently than the SDK that the provider uses.
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';

import { afterAll, beforeAll, expect, it } from 'vitest';
import { z } from 'zod';

import { startEmulator } from '../emulator.ts';
import type { Emulator } from '../emulator.ts';
import { crossPython } from './python.ts';

const section = z.record(z.string(), z.unknown());
const findings = z.object({
  launches: section,
  reading: section,
  logs: section,
  account: section,
  held: z.array(z.string()),
  notOfAws: z.array(z.string()),
});

let emulator: Emulator;
let found: z.infer<typeof findings>;
beforeAll(async () => {
  const python = await crossPython();
  emulator = await startEmulator();
  await emulator.send({ op: 'capacity', pool: 'm6i.large/us-east-1b/on-demand', instances: 3 });
  const script = join(import.meta.dirname, 'boto3_calls.py');
  const { stdout } = await promisify(execFile)(python, [script, emulator.url], {
    env: { PATH: process.env['PATH'], PYTHONDONTWRITEBYTECODE: '1' },
  });
  found = findings.parse(JSON.parse(stdout));
}, 300_000);
afterAll(() => emulator?.stop());

it('launches by RunInstances and by fleet, idempotently, and understands which pool failed', () => {
  const bothTags = [
    { Key: 'ropewalk:cluster', Value: '7' },
    { Key: 'owner', Value: 'a & <b>' },
  ];
  expect(found.launches).toEqual({
    image: expect.stringMatching(/^ami-[0-9a-f]{17}$/),
    template: { LaunchTemplateName: 'boto3', DefaultVersionNumber: 1, Tags: bothTags },
    templates: 1,
    dry: ['DryRunOperation', 412],
    ingress: [[22, 22, '203.0.113.7/32']],
    run: 3,
    runAgain: true,
    reservationOwner: '123456789012',
    fleet: [
      ['m6i.large', 'on-demand', 'subnet-us-east-1b', 3],
      ['m5.large', 'on-demand', 'subnet-us-east-1b', 1],
    ],
    fleetErrors: [['InsufficientInstanceCapacity', 'm6i.large']],
    fleetAgain: true,
    shortFleet: [['InsufficientInstanceCapacity', 'm6i.large']],
    pages: expect.any(Array),
    states: ['running'],
    launchTimes: true,
    one: {
      ImageId: found.launches['image'],
      Tags: bothTags,
      SecurityGroups: ['sg-cluster'],
      Profile: 'arn:aws:iam::123456789012:instance-profile/ropewalk',
      HttpTokens: 'required',
      Zones: ['us-east-1a', 'us-east-1b'],
      HasPublicIp: true,
      DeleteOnTermination: true,
    },
    consoleOf: true,
    ended: true,
    endedStates: [['running', 'terminated']],
    reasons: ['Client.UserInitiatedShutdown'],
    deleted: 'boto3',
    unknownTemplate: ['InvalidLaunchTemplateName.NotFoundException', 400],
    unknownInstance: ['InvalidInstanceID.NotFound', 400],
    unknownType: ['InvalidParameterValue', 400],
  });
});

it('pages through instances, types and log lines', () => {
  expect(found.launches['pages']).toHaveProperty('length', 2);
  expect(found.reading['pages']).toEqual([10, 10, 6]);
  expect(found.logs['pages']).toEqual([2, 2, 1]);
});

it('reads the account, its zones, what it sells, and its images', () => {
  const zones = ['us-east-1a', 'us-east-1b', 'us-east-1c'];
  expect(found.reading).toMatchObject({
    regions: ['us-east-1'],
    zones,
    subnets: zones,
    offerings: zones,
    image: 'available',
    expires: true,
    gpu: { vcpus: 4, memory: 16_384, architectures: ['x86_64'], gpu: ['T4', 1] },
    prices: true,
    identity: '123456789012',
    unknownParameter: ['ParameterNotFound', 400],
  });
});

it('writes logs and reads them back', () => {
  expect(found.logs).toMatchObject({
    messages: [0, 1, 2, 3, 4].map((at) => `line ${at}`),
    streams: ['7/i-0'],
    ids: 5,
    described: [['ropewalk/boto3', 30]],
    describedStreams: 1,
    got: 5,
    groupAgain: ['ResourceAlreadyExistsException', 400],
    unknownGroup: ['ResourceNotFoundException', 400],
    outOfOrder: ['InvalidParameterException', 400],
  });
});

it('makes a network and a role and takes them away, in the only order that AWS allows', () => {
  const inUse = ['DependencyViolation', 400];
  expect(found.account).toEqual({
    names: true,
    refusals: [
      ['InvalidParameterValue', 400],
      ['InvalidSubnet.Conflict', 400],
      ['InvalidSubnet.Range', 400],
    ],
    self: true,
    found: [1, 1, 1, 1],
    held: [inUse, inUse, inUse],
    vpcs: 1,
    identity: [
      ['EntityAlreadyExists', 409],
      ['LimitExceeded', 409],
      ['DeleteConflict', 409],
      ['DeleteConflict', 409],
    ],
    role: 'boto3',
    tags: ['/aws-service-role/spot.amazonaws.com/', [{ Key: 'ropewalk:setup', Value: 'boto3' }]],
    policy: [{ v: 2 }, ['v2', 'v1'], { a: 'b c' }, 1],
    gone: ['NoSuchEntity', 404],
    quota: [5, 'PENDING', ['ResourceAlreadyExistsException', 400]],
    history: 1,
    quotas: 4,
  });
});

it('finds nothing in any answer that AWS does not describe', () => {
  expect(found.held).toEqual(
    expect.arrayContaining(['AssumeRole', 'CreateFleet', 'DescribeInstances', 'FilterLogEvents', 'GetParameter']),
  );
  expect(found.held.length).toBeGreaterThanOrEqual(55);
  expect(found.notOfAws).toEqual([]);
});
