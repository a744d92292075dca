// The private certificate authority of one cluster: only a client with one of its leaf certificates can connect. The
// authority's key stays in this deployment, sealed in the vault; it must never reach an instance, a log or a history.
//
// Extended key usage separates the roles as far as TLS can: a server role rejects a client's leaf, which therefore can never
// impersonate a scheduler or a worker. Those two connect to each other and need both usages.
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
  /** Common name for display: an instance id, or a client's name. It grants no rights. */
  subject: string;
  /** IP addresses and host names of the subject; a client has none. */
  addresses: readonly string[];
  /** At most the authority's own validity. May be fractional. */
  validDays: number;
  /** The clock; tests set it. */
  now?: Date;
}

/** Creates the authority of the cluster with this name. */
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

/** A certificate for the key of a CSR. Only the key is used; the requested names are ignored. */
export async function issueLeaf(request: LeafRequest & { csrPem: string }): Promise<{ certificatePem: string }> {
  return { certificatePem: await sign(request, await publicKeyOfCsr(request.csrPem)) };
}

/** A certificate with a new key, for owners that cannot create a CSR: the user's client. */
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
  // With a key that is not the authority's, every peer would refuse the certificates, and the error would only show at each
  // handshake.
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

/** A certificate file ends with a newline, because some readers concatenate files. */
const pemOf = (certificate: X509Certificate): string => `${certificate.toString('pem').trimEnd()}\n`;
