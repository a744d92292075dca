// Writes identity-certificates.json, the certificates with which AWS signs instance identity documents (RSA, one for each
// region), from the AWS page https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/regions-certs.md and its download date:
// `node providers/aws/identity-certificates-write.ts regions-certs.md 2026-08-22`
import { X509Certificate } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';

const [, , path, asOf] = process.argv;
if (path === undefined || asOf === undefined || !/^\d{4}-\d{2}-\d{2}$/.test(asOf)) {
  process.stderr.write('usage: node providers/aws/identity-certificates-write.ts regions-certs.md YYYY-MM-DD\n');
  process.exit(2);
}
const regions: Record<string, string> = {};
for (const section of (await readFile(path, 'utf8')).split(/^## /m).slice(1)) {
  const names = [...(section.split('\n#### ')[0] ?? '').matchAll(/— ([a-z]{2}(?:-[a-z]+)+-\d)\b/g)].map(
    ([, name]) => name,
  );
  const rsa = /^#### \[ RSA \]\s+```\s+(-----BEGIN CERTIFICATE-----[^`]+-----END CERTIFICATE-----)/m.exec(section)?.[1];
  if (names.length === 0 || rsa === undefined) continue;
  const { publicKey } = new X509Certificate(rsa);
  if (publicKey.asymmetricKeyType !== 'rsa') throw new Error(`The certificate of ${names.join(', ')} has no RSA key.`);
  const pem = rsa.replaceAll(/\n\s+/g, '\n');
  for (const name of names) if (name !== undefined) regions[name] = pem;
}
const sorted = Object.fromEntries(Object.entries(regions).toSorted(([a], [b]) => (a < b ? -1 : 1)));
const source = 'https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/regions-certs.md, RSA';
const text = `${JSON.stringify({ source, asOf, regions: sorted }, null, 2)}\n`;
await writeFile(new URL('identity-certificates.json', import.meta.url), text);
process.stdout.write(`${Object.keys(sorted).length} regions\n`);
