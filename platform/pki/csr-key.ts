// Extracts only the public key from a certificate signing request. An instance sends it, so it is bounded, must prove
// possession of the key, and may only contain the supported kind of key.
import 'reflect-metadata';
import { Pkcs10CertificateRequest } from '@peculiar/x509';

import { RopewalkError } from '../../domain/errors.ts';
import { algorithm } from './ec-keys.ts';

/** A CSR with a P-256 key has about 400 characters. */
const maxLength = 8_192;

export async function publicKeyOfCsr(csrPem: string): Promise<CryptoKey> {
  if (csrPem.length > maxLength) throw refusal(`it is longer than ${maxLength} characters`);
  const csr = parse(csrPem);
  const { name, namedCurve } = keyAlgorithm(csr);
  if (name !== algorithm.name || namedCurve !== algorithm.namedCurve) {
    throw refusal(`its key is ${namedCurve ?? name}, and only ECDSA with P-256 is used here`);
  }
  const isSigned = await csr.verify().catch(() => false);
  if (!isSigned) throw refusal('it is not signed with the key that it holds');
  return csr.publicKey.export();
}

function parse(csrPem: string): Pkcs10CertificateRequest {
  try {
    return new Pkcs10CertificateRequest(csrPem);
  } catch (cause) {
    throw refusal('it is not a PKCS#10 request in PEM', cause);
  }
}

function keyAlgorithm(csr: Pkcs10CertificateRequest): { name: string; namedCurve: string | undefined } {
  const used = csr.publicKey.algorithm;
  const curve = 'namedCurve' in used && typeof used.namedCurve === 'string' ? used.namedCurve : undefined;
  return { name: used.name, namedCurve: curve };
}

const refusal = (why: string, cause?: unknown): RopewalkError =>
  new RopewalkError(
    {
      code: 'VALIDATION',
      field: 'csrPem',
      message: `The certificate signing request was refused: ${why}.`,
      hint: 'Send a PEM PKCS#10 request, signed with a new ECDSA P-256 key.',
    },
    { cause },
  );
