// Checks that instances will accept the Node.js of the settings: they compare the download's hash before they start it, so with
// a wrong hash or address no instance ever registers.
import { createHash } from 'node:crypto';

import { RopewalkError } from '../domain/errors.ts';
import type { CheckWarning, ProviderCheck } from './manifest.ts';
import type { NodeDownloads } from './node-downloads.ts';

/** Two archives of some 30 MB. */
const withinMs = 180_000;

/** `provider` is its name; `settingsVariable` names its settings file. */
export const nodeCheck = (provider: string, settingsVariable: string, node: NodeDownloads): ProviderCheck => ({
  name: `${provider} node`,
  doctorOnly: { withinMs },
  run: async (signal) => {
    const wrong = (message: string): RopewalkError =>
      new RopewalkError({
        code: 'VALIDATION',
        message: `${message}: instances would refuse it and never register.`,
        hint: `Correct "node" in the file of ${settingsVariable}, from SHASUMS256.txt beside the archive; ropewalk setup ${provider} writes it too.`,
      });
    for (const [architecture, { url, sha256 }] of Object.entries(node)) {
      const found = await download(url, signal);
      // The subnets may reach addresses that this machine cannot.
      if ('problem' in found) return notTried(`${url} of ${architecture} cannot be read from here: ${found.problem}`);
      if (found.status === 404) throw wrong(`There is no ${url}, from which ${architecture} instances get Node`);
      if (found.status !== 200) return notTried(`${url} of ${architecture} answered ${found.status} here`);
      if (found.sha256 !== sha256) {
        throw wrong(`The hash of ${url} is ${found.sha256}, and node.${architecture}.sha256 is ${sha256}`);
      }
    }
    return Object.values(node)
      .map(({ url }) => url)
      .join(', ');
  },
});

const notTried = (why: string): CheckWarning => ({
  text: `not tried: ${why}`,
  hint: 'Make sure that instances reach it, and compare its hash with SHASUMS256.txt, or name a mirror of yours.',
});

async function download(
  url: string,
  signal: AbortSignal,
): Promise<{ status: number; sha256: string } | { problem: string }> {
  try {
    const answer = await fetch(url, { signal });
    const hash = createHash('sha256');
    for await (const part of answer.body ?? []) hash.update(part);
    return { status: answer.status, sha256: hash.digest('hex') };
  } catch (error) {
    const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
    return { problem: cause instanceof Error ? cause.message : String(cause) };
  }
}
