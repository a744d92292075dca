// Requests a certificate without disclosing the key: the instance creates the key, and only the signing request is sent. The
// control plane decides the certificate's subject, so the request claims none.
import 'reflect-metadata';
import { PemConverter, Pkcs10CertificateRequestGenerator } from '@peculiar/x509';

export interface CertificateRequest {
  csrPem: string;
  /** PKCS#8. Only written to a file with mode 0600. */
  keyPem: string;
}

export async function createCsr(): Promise<CertificateRequest> {
  const keys = await crypto.subtle.generateKey({ name: 'ECDSA', namedCurve: 'P-256' }, true, ['sign', 'verify']);
  const csr = await Pkcs10CertificateRequestGenerator.create({
    name: [{ CN: ['ropewalk instance'] }],
    keys,
    signingAlgorithm: { name: 'ECDSA', hash: 'SHA-256' },
  });
  const pkcs8 = await crypto.subtle.exportKey('pkcs8', keys.privateKey);
  return { csrPem: withNewline(csr.toString('pem')), keyPem: withNewline(PemConverter.encode(pkcs8, 'PRIVATE KEY')) };
}

const withNewline = (pem: string): string => `${pem.trimEnd()}\n`;
