// Asks for a certificate without giving the key away: the instance makes the key, only the signing request travels. Who
// the certificate names is the control plane's to say, so that the request claims nothing.
import 'reflect-metadata';
import { PemConverter, Pkcs10CertificateRequestGenerator } from '@peculiar/x509';

export interface CertificateRequest {
  csrPem: string;
  /** PKCS#8. It goes to a file with mode 0600 and nowhere else. */
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
