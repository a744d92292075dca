// The Node.js downloads of instances: the version that runs this command, with nodejs.org's checksums.
import { RopewalkError } from '../domain/errors.ts';

interface Download {
  url: string;
  sha256: string;
}
export type NodeDownloads = Record<'x86_64' | 'arm64', Download>;

const archives = { x86_64: 'linux-x64', arm64: 'linux-arm64' } as const;
const withinMs = 20_000;

/** `mirror` is the base address of the releases, by default nodejs.org's. */
export async function nodeDownloads(mirror: string, version = process.version): Promise<NodeDownloads> {
  const url = `${mirror}/${version}/SHASUMS256.txt`;
  const refused = (message: string, cause?: unknown): RopewalkError =>
    new RopewalkError(
      {
        code: 'UNAVAILABLE',
        message: `${url}: ${message}`,
        hint: 'Set ROPEWALK_NODE_MIRROR to an address with the same files, or write "node" into the settings file.',
      },
      { cause },
    );
  const answer = await fetch(url, { signal: AbortSignal.timeout(withinMs) }).catch((cause: unknown) => {
    throw refused(cause instanceof Error ? cause.message : String(cause), cause);
  });
  if (!answer.ok) throw refused(`it answered ${answer.status}`);
  const lines = (await answer.text()).split('\n');
  const of = (archive: string): Download => {
    const file = `node-${version}-${archive}.tar.xz`;
    const sha256 = lines.find((line) => line.endsWith(`  ${file}`))?.slice(0, 64);
    if (sha256 === undefined) throw refused(`it does not name ${file}`);
    return { url: `${mirror}/${version}/${file}`, sha256 };
  };
  return { x86_64: of(archives.x86_64), arm64: of(archives.arm64) };
}
