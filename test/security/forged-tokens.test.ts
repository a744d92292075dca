// Forged tokens, invented or assembled from parts of valid ones: none gives access. The valid token behind each does, which shows
// that the attack changes the outcome.
import { createHmac, generateKeyPairSync, sign as signBytes } from 'node:crypto';

import { describe, expect, it } from 'vitest';

import { createTokens, type Tokens } from '../../platform/tokens.ts';
import { rememberInstanceTokens } from '../../platform/remembered-tokens.ts';
import { keySet, testKeys } from '../platform/support.ts';

const startS = 1_800_000_000;
const kinds = ['launch', 'instance', 'dashboard', 'dashboard-session'] as const;
type Kind = (typeof kinds)[number];

const claims = {
  workspace: 'default',
  cluster: 12,
  job: 12,
  seq: 3,
  instance: 'i_0123456789',
  user: 'ada',
  tokenId: 't1',
};
const soundPayload = (kind: Kind) => ({ ...claims, iss: 'ropewalk', aud: kind, iat: startS, exp: startS + 3_600 });
const soundHeader = { alg: 'HS256', typ: 'JWT', kid: 'k1' };

const verifyAs = (tokens: Tokens, kind: Kind, token: string): Promise<object> => {
  if (kind === 'launch') return tokens.verifyLaunch(token);
  if (kind === 'instance') return tokens.verifyInstance(token);
  return kind === 'dashboard' ? tokens.verifyDashboard(token) : tokens.verifyDashboardSession(token);
};

const encode = (value: unknown): string =>
  Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)).toString('base64url');
const own = Buffer.from(testKeys().current.tokens);
const hmac = (text: string, key: Uint8Array | string = own, hash = 'sha256') =>
  createHmac(hash, key).update(text).digest('base64url');

function forge(payload: object, header: object = soundHeader, key: Uint8Array | string = own, hash = 'sha256'): string {
  const text = `${encode(header)}.${encode(payload)}`;
  return `${text}.${hmac(text, key, hash)}`;
}

const rsa = generateKeyPairSync('rsa', { modulusLength: 2_048 });
const ed25519 = generateKeyPairSync('ed25519');
const without = (payload: object, name: string) =>
  Object.fromEntries(Object.entries(payload).filter(([key]) => key !== name));
const keyIds = ['', 'k9', '../../../dev/null', '/dev/null', 'k1\0', 'K1', '__proto__', 'constructor', "k1' OR '1'='1"];
const emptyKey = new Uint8Array(0);

type Attack = [what: string, make: (kind: Kind) => string];
const attacks: Attack[] = [
  ...['none', 'None', 'NONE', 'nOnE', ''].map<Attack>((alg) => [
    `alg "${alg}" without a signature`,
    (kind) => `${encode({ ...soundHeader, alg })}.${encode(soundPayload(kind))}.`,
  ]),
  ['alg none with a signature', (kind) => forge(soundPayload(kind), { ...soundHeader, alg: 'none' })],
  ['HS512 with our key', (kind) => forge(soundPayload(kind), { ...soundHeader, alg: 'HS512' }, own, 'sha512')],
  ['HS384 with our key', (kind) => forge(soundPayload(kind), { ...soundHeader, alg: 'HS384' }, own, 'sha384')],
  ['HS256 with another key', (kind) => forge(soundPayload(kind), soundHeader, keySet('k1', 9).tokens)],
  ['HS256 with an empty key', (kind) => forge(soundPayload(kind), soundHeader, emptyKey)],
  ['HS256 with the vault’s key', (kind) => forge(soundPayload(kind), soundHeader, testKeys().current.vault)],
  ['HS256 with the request key', (kind) => forge(soundPayload(kind), soundHeader, testKeys().current.requestHmac)],
  [
    'HS256 with a public key as the secret',
    (kind) => forge(soundPayload(kind), soundHeader, rsa.publicKey.export({ type: 'spki', format: 'pem' }).toString()),
  ],
  [
    'RS256 with a key of its own in the header',
    (kind) => {
      const jwk = rsa.publicKey.export({ format: 'jwk' });
      const text = `${encode({ ...soundHeader, alg: 'RS256', jwk })}.${encode(soundPayload(kind))}`;
      return `${text}.${signBytes('sha256', Buffer.from(text), rsa.privateKey).toString('base64url')}`;
    },
  ],
  [
    'EdDSA',
    (kind) => {
      const text = `${encode({ ...soundHeader, alg: 'EdDSA' })}.${encode(soundPayload(kind))}`;
      return `${text}.${signBytes(null, Buffer.from(text), ed25519.privateKey).toString('base64url')}`;
    },
  ],
  [
    'a key address in the header',
    (kind) => forge(soundPayload(kind), { ...soundHeader, jku: 'http://127.0.0.1:1/keys' }, keySet('k1', 9).tokens),
  ],
  [
    'an extension that must be understood',
    (kind) => forge(soundPayload(kind), { ...soundHeader, crit: ['b64'], b64: false }),
  ],
  ...keyIds.map<Attack>((kid) => [
    `key id ${JSON.stringify(kid)}`,
    (kind) => forge(soundPayload(kind), { ...soundHeader, kid }),
  ]),
  ['key id as a list', (kind) => forge(soundPayload(kind), { ...soundHeader, kid: ['k1', 'k1'] })],
  ['no key id', (kind) => forge(soundPayload(kind), { alg: 'HS256' })],
  ...kinds.map<Attack>((aud) => [
    `the audience ${aud} elsewhere`,
    (kind) => forge({ ...soundPayload(kind), aud: aud === kind ? `${aud}s` : aud }),
  ]),
  ['no audience', (kind) => forge(without(soundPayload(kind), 'aud'))],
  ['another issuer', (kind) => forge({ ...soundPayload(kind), iss: 'someone' })],
  ['no issuer', (kind) => forge(without(soundPayload(kind), 'iss'))],
  ['an end that has passed', (kind) => forge({ ...soundPayload(kind), exp: startS })],
  ['an end before 1970', (kind) => forge({ ...soundPayload(kind), exp: -1 })],
  ['no end', (kind) => forge(without(soundPayload(kind), 'exp'))],
  ['an end as text', (kind) => forge({ ...soundPayload(kind), exp: String(startS + 3_600) })],
  ['an end of null', (kind) => forge({ ...soundPayload(kind), exp: null })],
  ['a beginning to come', (kind) => forge({ ...soundPayload(kind), nbf: startS + 3_000 })],
  ['no time of issue', (kind) => forge(without(soundPayload(kind), 'iat'))],
  ['a workspace that is no text', (kind) => forge({ ...soundPayload(kind), workspace: { a: 1 } })],
  ['no workspace', (kind) => forge(without(soundPayload(kind), 'workspace'))],
  ['a cluster as text', (kind) => forge({ ...soundPayload(kind), cluster: '12' })],
  ['half a cluster', (kind) => forge({ ...soundPayload(kind), cluster: 12.5 })],
  ['a changed payload', (kind) => swap(forge(soundPayload(kind)), 1, encode({ ...soundPayload(kind), cluster: 13 }))],
  ['a changed header', (kind) => swap(forge(soundPayload(kind)), 0, encode({ ...soundHeader, typ: 'jwt' }))],
  ['half a signature', (kind) => forge(soundPayload(kind)).slice(0, -20)],
  ['no signature', (kind) => swap(forge(soundPayload(kind)), 2, '')],
  ['four parts', (kind) => `${forge(soundPayload(kind))}.e30`],
  ['a payload that is a list', (kind) => forge([soundPayload(kind)])],
  ...['=', ' ', '\n', '\t', '.', '%'].flatMap<Attack>((end) => [
    [`${JSON.stringify(end)} after it`, (kind) => `${forge(soundPayload(kind))}${end}`],
    [`${JSON.stringify(end)} before it`, (kind) => `${end}${forge(soundPayload(kind))}`],
    [
      `${JSON.stringify(end)} after its payload`,
      (kind) => forge(soundPayload(kind)).replace(/\.([^.]*)$/, `${end}.$1`),
    ],
  ]),
  ['other bits at the end of its signature', (kind) => nextLetter(forge(soundPayload(kind)))],
  ['nothing', () => ''],
  ['a megabyte', () => 'a'.repeat(1_000_000)],
];

/** Four of the last letter's six bits belong to the signature: a lenient decoder reads the same bytes from the next letter. */
const nextLetter = (token: string): string => {
  const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
  return `${token.slice(0, -1)}${letters.charAt(letters.indexOf(token.slice(-1)) + 1)}`;
};

const swap = (token: string, index: number, part: string): string => token.split('.').with(index, part).join('.');

describe.each(kinds)('a token for %s', (kind) => {
  const tokens = () => rememberInstanceTokens(createTokens(testKeys(), () => (startS + 60) * 1_000));

  it('is accepted when it is sound: what follows are changes of that one', async () => {
    expect(await verifyAs(tokens(), kind, forge(soundPayload(kind)))).toMatchObject({
      workspace: 'default',
      cluster: 12,
    });
  });

  it.each(attacks)('is refused with %s', async (_what, make) => {
    const all = tokens();
    const refused = { problem: { code: 'UNAUTHENTICATED' } };
    await expect(verifyAs(all, kind, make(kind))).rejects.toMatchObject(refused);
    // It is not cached as valid either, nor is the valid one cached as invalid.
    await expect(verifyAs(all, kind, make(kind))).rejects.toMatchObject(refused);
    await verifyAs(all, kind, forge(soundPayload(kind)));
  });
});
