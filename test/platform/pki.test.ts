// The certificates that a cluster accepts and refuses, by real TLS on loopback: OpenSSL decides, as it will for Dask.
import { execFile } from 'node:child_process';
import { X509Certificate } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

import 'reflect-metadata';
import { Pkcs10CertificateRequestGenerator } from '@peculiar/x509';
import { build } from 'esbuild';
import { beforeAll, describe, expect, it } from 'vitest';

import { createCsr } from '../../agent/dask/csr.ts';
import { createClusterCa, issueLeaf, issueLeafAndKey } from '../../platform/pki/cluster-ca.ts';
import type { CertificateRole, ClusterCa } from '../../platform/pki/cluster-ca.ts';
import { createSecret } from '../../platform/secret.ts';
import { handshake, plaintext } from './pki-tls.ts';
import type { Identity } from './pki-tls.ts';

const run = promisify(execFile);
const day = 86_400_000;
const subject = 'i_0123456789';

let ca: ClusterCa;
let foreign: ClusterCa;
const identities: Record<string, Identity> = {};
const identity = (name: string): Identity => identities[name] ?? expect.fail(`there is no identity ${name}`);

beforeAll(async () => {
  ca = await createClusterCa({ cluster: 'weather', validDays: 30 });
  foreign = await createClusterCa({ cluster: 'weather', validDays: 30 });
  const past = { validDays: 1, now: new Date(Date.now() - 2 * day) };
  identities['scheduler'] = await instance(ca, 'scheduler');
  identities['worker'] = await instance(ca, 'worker');
  identities['client'] = await client(ca);
  identities['foreign scheduler'] = { ...(await instance(foreign, 'scheduler')), caPem: ca.certificatePem };
  identities['foreign client'] = { ...(await client(foreign)), caPem: ca.certificatePem };
  // The authority is right and has not expired: only the leaf has.
  identities['expired client'] = await client(ca, past);
  identities['expired scheduler'] = await instance(ca, 'scheduler', past);
});

// Node's server sends no reason for a refusal; the tests with Python's server below show it.
describe('mutual TLS by Node', () => {
  it.each([
    ['scheduler', 'client'],
    ['scheduler', 'worker'],
    ['worker', 'scheduler'],
    ['worker', 'worker'],
    ['worker', 'client'],
  ])('lets a %s be called by a %s of its cluster', async (server, caller) => {
    expect(await handshake(identity(server), identity(caller))).toBe('welcome');
  });

  it.each([
    ['a client of another authority', 'scheduler', 'foreign client', /^(closed|ECONNRESET)$/],
    ['a scheduler of another authority', 'foreign scheduler', 'client', /UNABLE_TO_VERIFY_LEAF_SIGNATURE/],
    ['an expired client', 'scheduler', 'expired client', /^(closed|ECONNRESET)$/],
    ['an expired scheduler', 'expired scheduler', 'client', /CERT_HAS_EXPIRED/],
    ["a client's leaf in a server's place", 'client', 'worker', /INVALID_PURPOSE/],
  ])('refuses %s', async (_who, server, caller, error) => {
    expect(await handshake(identity(server), identity(caller))).toMatch(error);
  });

  it('refuses plaintext', async () => {
    expect(await plaintext(identity('scheduler'))).toMatch(/^(closed|ECONNRESET)$/);
  });
});

describe("mutual TLS by Python's ssl, strict", () => {
  it.each([
    ['scheduler', 'client', 'accepted'],
    ['worker', 'scheduler', 'accepted'],
    ['scheduler', 'foreign client', /server refused.*CERTIFICATE_VERIFY_FAILED/],
    ['foreign scheduler', 'client', /client refused.*CERTIFICATE_VERIFY_FAILED/],
    ['expired scheduler', 'client', /client refused.*expired/],
    ['scheduler', 'expired client', /server refused.*expired/],
    ['client', 'worker', /client refused.*purpose/],
  ])('%s called by %s: %s', async (server, caller, outcome) => {
    expect(await pythonHandshake(identity(server), identity(caller))).toMatch(outcome);
  });
});

describe('a leaf', () => {
  it('names what we say, whatever its request asks for', async () => {
    const keys = await crypto.subtle.generateKey({ name: 'ECDSA', namedCurve: 'P-256' }, true, ['sign', 'verify']);
    const greedy = await Pkcs10CertificateRequestGenerator.create({
      name: 'CN=another cluster, O=everything',
      keys,
      signingAlgorithm: { name: 'ECDSA', hash: 'SHA-256' },
    });
    const addresses = ['10.0.0.7', 'fd00::7', 'Head.Internal'];
    const csrPem = greedy.toString('pem');
    const { certificatePem } = await issueLeaf({ ca, role: 'worker', subject, addresses, validDays: 2, csrPem });
    const leaf = new X509Certificate(certificatePem);
    expect(leaf.subject).toBe(`CN=${subject}\nOU=ropewalk worker`);
    expect(leaf.subjectAltName).toBe('IP Address:10.0.0.7, IP Address:FD00:0:0:0:0:0:0:7, DNS:head.internal');
    expect(leaf.ca).toBe(false);
    expect(leaf.verify(new X509Certificate(ca.certificatePem).publicKey)).toBe(true);
    expect(leaf.publicKey.export({ type: 'spki', format: 'der' })).toEqual(
      Buffer.from(await crypto.subtle.exportKey('spki', keys.publicKey)),
    );
  });

  it('begins five minutes back, ends with its authority, and has a number of its own', async () => {
    const now = new Date('2030-01-01T00:00:00Z');
    const short = await createClusterCa({ cluster: 'c', validDays: 3, now });
    const request = { ca: short, role: 'client', subject, addresses: [], now } as const;
    const one = new X509Certificate((await issueLeafAndKey({ ...request, validDays: 1 })).certificatePem);
    const other = new X509Certificate((await issueLeafAndKey({ ...request, validDays: 100 })).certificatePem);
    expect(one.validFromDate.toISOString()).toBe('2029-12-31T23:55:00.000Z');
    expect(one.validToDate.toISOString()).toBe('2030-01-02T00:00:00.000Z');
    expect(other.validToDate.toISOString()).toBe('2030-01-04T00:00:00.000Z');
    expect(one.serialNumber).toMatch(/^[4-7][0-9A-F]{31}$/);
    expect(other.serialNumber).not.toBe(one.serialNumber);
    const late = new Date('2030-01-04T00:00:00Z');
    await expect(issueLeafAndKey({ ...request, validDays: 1, now: late })).rejects.toMatchObject({
      problem: { code: 'CONFLICT', message: expect.stringContaining('expired') },
    });
  });

  it.each([
    ['an address that is none', { addresses: ['10.0.0.1', '10.0.0.256'] }, 'addresses[1]'],
    ['a name with a space', { addresses: ['a b'] }, 'addresses[0]'],
    ['a zone', { addresses: ['fe80::1%eth0'] }, 'addresses[0]'],
    ['no time', { validDays: 0 }, 'validDays'],
    ['no subject', { subject: ' ' }, 'subject'],
  ])('is refused for %s', async (_what, wrong, field) => {
    const right = { ca, role: 'client', subject, addresses: ['127.0.0.1'], validDays: 1 } as const;
    await expect(issueLeafAndKey({ ...right, ...wrong })).rejects.toMatchObject({
      problem: { code: 'VALIDATION', field },
    });
  });

  it.each([
    ['that is no request', () => 'hello', /not a PKCS#10/],
    ['that is a certificate', () => ca.certificatePem, /not a PKCS#10|not signed|only ECDSA/],
    ['that was changed', tamperedCsr, /not signed with the key/],
    ['with another kind of key', rsaCsr, /only ECDSA with P-256/],
    ['with another curve', p384Csr, /P-384, and only ECDSA with P-256/],
    ['that is huge', () => 'A'.repeat(9_000), /longer than/],
  ])('is refused for a request %s', async (_what, make, message) => {
    const csrPem = await make();
    const issued = issueLeaf({ ca, role: 'worker', subject, addresses: [], validDays: 1, csrPem });
    await expect(issued).rejects.toMatchObject({
      problem: { code: 'VALIDATION', field: 'csrPem', message: expect.stringMatching(message) },
    });
  });
});

describe('the key of an authority', () => {
  it('is not printed', async () => {
    expect(JSON.stringify(ca)).not.toContain('PRIVATE');
    expect(ca.keyPem.reveal()).toMatch(/^-----BEGIN PRIVATE KEY-----\n[^]*-----END PRIVATE KEY-----\n$/);
    const broken = { ...ca, keyPem: createSecret('-----BEGIN PRIVATE KEY-----\nc2VjcmV0\n-----END PRIVATE KEY-----') };
    const issued = issueLeafAndKey({ ca: broken, role: 'client', subject, addresses: [], validDays: 1 });
    await expect(issued).rejects.toThrow(/^The key of this authority cannot be read\.$/);
  });

  it('must be its own', async () => {
    const mixed = { certificatePem: ca.certificatePem, keyPem: foreign.keyPem };
    const issued = issueLeafAndKey({ ca: mixed, role: 'client', subject, addresses: [], validDays: 1 });
    await expect(issued).rejects.toThrow(/does not belong/);
  });
});

it('the agent can make a request from its one bundled file', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'ropewalk-csr-'));
  try {
    const outfile = join(directory, 'csr.mjs');
    const entry = fileURLToPath(new URL('../../agent/dask/csr.ts', import.meta.url));
    await build({ entryPoints: [entry], outfile, bundle: true, platform: 'node', format: 'esm', target: 'node20' });
    const program = `import { createCsr } from ${JSON.stringify(outfile)}; console.log((await createCsr()).csrPem);`;
    const { stdout } = await run(process.execPath, ['--input-type=module', '-e', program]);
    const { certificatePem } = await issueLeaf({
      ...{ ca, role: 'worker', subject, addresses: [], validDays: 1 },
      csrPem: stdout,
    });
    expect(new X509Certificate(certificatePem).subject).toContain(subject);
  } finally {
    await rm(directory, { recursive: true });
  }
});

interface Life {
  validDays: number;
  now?: Date;
}

async function instance(of: ClusterCa, role: CertificateRole, life: Life = { validDays: 1 }): Promise<Identity> {
  const { csrPem, keyPem } = await createCsr();
  const leaf = await issueLeaf({ ca: of, role, subject, addresses: ['127.0.0.1'], csrPem, ...life });
  return { ...leaf, keyPem, caPem: of.certificatePem };
}

async function client(of: ClusterCa, life: Life = { validDays: 1 }): Promise<Identity> {
  // With the address too: only its purpose must disqualify it as a server's certificate.
  const leaf = await issueLeafAndKey({ ca: of, role: 'client', subject: 'ada', addresses: ['127.0.0.1'], ...life });
  return { certificatePem: leaf.certificatePem, keyPem: leaf.keyPem.reveal(), caPem: of.certificatePem };
}

async function pythonHandshake(server: Identity, caller: Identity): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'ropewalk-pki-'));
  try {
    for (const [side, files] of Object.entries({ server, client: caller })) {
      await writeFile(join(directory, `${side}.crt`), files.certificatePem);
      await writeFile(join(directory, `${side}.key`), files.keyPem, { mode: 0o600 });
      await writeFile(join(directory, `${side}-trusts.pem`), files.caPem);
    }
    const script = fileURLToPath(new URL('pki-python.py', import.meta.url));
    return await run('python3', [script, directory]).then(
      ({ stdout }) => stdout.trim(),
      (error: { stderr?: string }) => (error.stderr ?? '').trim(),
    );
  } finally {
    await rm(directory, { recursive: true });
  }
}

async function tamperedCsr(): Promise<string> {
  const { csrPem } = await createCsr();
  const der = Buffer.from(csrPem.replaceAll(/-----[A-Z ]+-----|\s/g, ''), 'base64');
  const at = der.indexOf('ropewalk instance');
  der.write('another', at);
  return `-----BEGIN CERTIFICATE REQUEST-----\n${der.toString('base64')}\n-----END CERTIFICATE REQUEST-----\n`;
}

const rsaCsr = (): Promise<string> => {
  const algorithm = { name: 'RSASSA-PKCS1-v1_5', hash: 'SHA-256', modulusLength: 2048 };
  return otherCsr({ ...algorithm, publicExponent: new Uint8Array([1, 0, 1]) });
};
const p384Csr = (): Promise<string> => otherCsr({ name: 'ECDSA', namedCurve: 'P-384' });

async function otherCsr(algorithm: RsaHashedKeyGenParams | EcKeyGenParams): Promise<string> {
  const keys = await crypto.subtle.generateKey(algorithm, true, ['sign', 'verify']);
  const signingAlgorithm = { name: algorithm.name, hash: 'SHA-256' };
  return (await Pkcs10CertificateRequestGenerator.create({ name: 'CN=x', keys, signingAlgorithm })).toString('pem');
}
