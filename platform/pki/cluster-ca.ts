// The private certificate authority of one cluster: only a client with a leaf certificate of it can connect. The key of the
// authority never leaves this deployment, sealed in the vault; it must never reach an instance, a log or a history.
//
// Extended key usage keeps the roles apart as far as TLS can: a client's leaf is refused where a server is expected, so
// that it can never stand in for a scheduler or a worker. Those two dial each other and need both usages.
import 'reflect-metadata';
import {
  AuthorityKeyIdentifierExtension,
  BasicConstraintsExtension,
  ExtendedKeyUsage,
  ExtendedKeyUsageExtension,
  KeyUsageFlags,
  KeyUsagesExtension,
  SubjectAlternativeNameExtension,
  SubjectKeyIdentifierExtension,
  X509Certificate,
  X509CertificateGenerator,
} from '@peculiar/x509';

import { RopewalkError } from '../../domain/errors.ts';
import { createSecret, type Secret } from '../secret.ts';
import { alternativeNames, commonName, lifetimeMs, newSerial } from './certificate-fields.ts';
import { publicKeyOfCsr } from './csr-key.ts';
import { exportPrivateKey, generateKeys, importPrivateKey, signing } from './ec-keys.ts';

export type CertificateRole = 'scheduler' | 'worker' | 'client';

export interface ClusterCa {
  certificatePem: string;
  keyPem: Secret;
}

export interface LeafRequest {
  ca: ClusterCa;
  role: CertificateRole;
  /** Common name, for people: an instance id, or who a client is. Nothing decides by it. */
  subject: string;
  /** IP addresses and host names under which the subject is reached; a client has none. */
  addresses: readonly string[];
  /** Never longer than the authority itself. Parts of a day are fine. */
  validDays: number;
  /** The clock; tests set it. */
  now?: Date;
}

/** A new authority for the cluster with this name. */
export async function createClusterCa(request: { cluster: string; validDays: number; now?: Date }): Promise<ClusterCa> {
  const { cluster, validDays, now = new Date() } = request;
  const keys = await generateKeys();
  const certificate = await X509CertificateGenerator.createSelfSigned({
    serialNumber: newSerial(),
    name: commonName('cluster', cluster),
    notBefore: new Date(now.getTime() - clockSkewMs),
    notAfter: new Date(now.getTime() + lifetimeMs(validDays)),
    signingAlgorithm: signing,
    keys,
    extensions: [
      new BasicConstraintsExtension(true, 0, true),
      new KeyUsagesExtension(KeyUsageFlags.keyCertSign | KeyUsageFlags.cRLSign, true),
      await SubjectKeyIdentifierExtension.create(keys.publicKey),
    ],
  });
  return { certificatePem: pemOf(certificate), keyPem: createSecret(await exportPrivateKey(keys.privateKey)) };
}

/** A certificate for the key of a CSR. Only the key is taken from it: what its maker asks to be called is ignored. */
export async function issueLeaf(request: LeafRequest & { csrPem: string }): Promise<{ certificatePem: string }> {
  return { certificatePem: await sign(request, await publicKeyOfCsr(request.csrPem)) };
}

/** A certificate with a new key, for those who cannot make a CSR: the user's client. */
export async function issueLeafAndKey(request: LeafRequest): Promise<{ certificatePem: string; keyPem: Secret }> {
  const keys = await generateKeys();
  const certificatePem = await sign(request, keys.publicKey);
  return { certificatePem, keyPem: createSecret(await exportPrivateKey(keys.privateKey)) };
}

/** Clocks of instances may be behind ours. */
const clockSkewMs = 5 * 60_000;

async function sign(request: LeafRequest, publicKey: CryptoKey): Promise<string> {
  const { ca, role, subject, addresses, validDays, now = new Date() } = request;
  const authority = new X509Certificate(ca.certificatePem);
  if (authority.notAfter <= now) {
    throw new RopewalkError({
      code: 'CONFLICT',
      message: `The certificate authority of this cluster expired at ${authority.notAfter.toISOString()}.`,
      hint: 'Start a new cluster: certificates of an expired authority would be refused by everyone.',
    });
  }
  const names = alternativeNames(addresses);
  const certificate = await X509CertificateGenerator.create({
    serialNumber: newSerial(),
    subject: commonName(role, subject),
    issuer: authority.subjectName,
    notBefore: new Date(now.getTime() - clockSkewMs),
    notAfter: new Date(Math.min(now.getTime() + lifetimeMs(validDays), authority.notAfter.getTime())),
    signingAlgorithm: signing,
    publicKey,
    signingKey: await importPrivateKey(ca.keyPem),
    extensions: [
      new BasicConstraintsExtension(false, undefined, true),
      new KeyUsagesExtension(KeyUsageFlags.digitalSignature, true),
      new ExtendedKeyUsageExtension(usages[role]),
      ...(names.length === 0 ? [] : [new SubjectAlternativeNameExtension(names)]),
      await SubjectKeyIdentifierExtension.create(publicKey),
      await AuthorityKeyIdentifierExtension.create(await authority.publicKey.export()),
    ],
  });
  // A key that is not the authority's own would sign certificates that every peer refuses, and the error would only show at each handshake.
  if (!(await certificate.verify({ publicKey: authority.publicKey, signatureOnly: true }))) {
    throw new RopewalkError({ code: 'INTERNAL', message: 'The key of this authority does not belong to it.' });
  }
  return pemOf(certificate);
}

const both = [ExtendedKeyUsage.serverAuth, ExtendedKeyUsage.clientAuth];
const usages: Record<CertificateRole, ExtendedKeyUsage[]> = {
  scheduler: both,
  worker: both,
  client: [ExtendedKeyUsage.clientAuth],
};

/** Files of certificates end with a newline: some readers join them. */
const pemOf = (certificate: X509Certificate): string => `${certificate.toString('pem').trimEnd()}\n`;
