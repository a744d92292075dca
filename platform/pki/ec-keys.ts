// The only kind of key in our certificates: ECDSA P-256, which every TLS library supports and which is generated in under a
// millisecond. Private keys leave this file only as a Secret or as PEM that becomes one.
import 'reflect-metadata';
import { PemConverter } from '@peculiar/x509';

import { RopewalkError } from '../../domain/errors.ts';
import type { Secret } from '../secret.ts';

export const algorithm = { name: 'ECDSA', namedCurve: 'P-256' } as const;
export const signing = { name: 'ECDSA', hash: 'SHA-256' } as const;

export const generateKeys = (): Promise<CryptoKeyPair> =>
  crypto.subtle.generateKey(algorithm, true, ['sign', 'verify']);

/** PKCS#8 in PEM, as OpenSSL and Python read it. */
export async function exportPrivateKey(key: CryptoKey): Promise<string> {
  return `${PemConverter.encode(await crypto.subtle.exportKey('pkcs8', key), 'PRIVATE KEY').trimEnd()}\n`;
}

export async function importPrivateKey(keyPem: Secret): Promise<CryptoKey> {
  try {
    const pkcs8 = PemConverter.decodeFirst(keyPem.reveal());
    return await crypto.subtle.importKey('pkcs8', pkcs8, algorithm, false, ['sign']);
  } catch {
    // Omits the cause: a parser's message may quote its input.
    throw new RopewalkError({ code: 'INTERNAL', message: 'The key of this authority cannot be read.' });
  }
}
