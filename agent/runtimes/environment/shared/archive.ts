// An environment as one file: a tar file, compressed by zstd. tar runs as the user who builds and owns environments, in both
// directions: root follows no link of a package. The archive itself belongs to the agent.
import { spawn, type ChildProcess } from 'node:child_process';
import { createHash, type Hash } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { Transform, type Readable, type Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { constants, createZstdCompress, createZstdDecompress } from 'node:zlib';

import { variablesOf } from '../../../processes/task-user.ts';
import type { Tools } from '../run-tool.ts';

export interface Packed {
  sha256: string;
  bytes: number;
  unpackedBytes: number;
}

export class TooLarge extends Error {}

/** Creates the file, which must not exist. Rejects with TooLarge; the file is then incomplete. */
export async function packDirectory(
  tools: Tools,
  directory: string,
  { path, maxBytes }: { path: string; maxBytes: number },
): Promise<Packed> {
  const tar = startTar(tools, ['-c', '-f', '-', '-C', directory, '.']);
  tar.stdin.end();
  const hash = createHash('sha256');
  const unpacked = counted();
  const packed = counted({ maxBytes, hash });
  const zstd = createZstdCompress({
    params: {
      // Faster than the network; higher levels save little of mostly machine code. With more than one worker (nbWorkers) a
      // stream of Node 24 breaks off: "push after EOF".
      [constants.ZSTD_c_compressionLevel]: 3,
    },
  });
  const file = createWriteStream(path, { flags: 'wx', mode: 0o600 });
  await ended(tar, pipeline(tar.stdout, unpacked.stream, zstd, packed.stream, file));
  return { sha256: hash.digest('hex'), bytes: packed.bytes(), unpackedBytes: unpacked.bytes() };
}

/** Unpacks into an existing empty directory. Rejects when the file is not an archive, or is larger than allowed. */
export async function unpackDirectory(
  tools: Tools,
  path: string,
  { directory, maxBytes }: { directory: string; maxBytes: number },
): Promise<void> {
  const tar = startTar(tools, ['-x', '-f', '-', '--no-same-owner', '-C', directory]);
  const limited = counted({ maxBytes });
  const streams = pipeline(createReadStream(path), createZstdDecompress(), limited.stream, tar.stdin);
  // Node closes the pipe of an ended program, often before it has noticed that everything was written. tar's exit code shows
  // whether it read everything.
  await ended(
    tar,
    streams.catch((error: unknown) => (isBrokenPipe(error) ? tar.exited : Promise.reject(error))),
  );
}

/** Rejects with the first error: where the streams only see that tar has ended, with tar's message. */
async function ended({ child, exited }: Tar, streams: Promise<void>): Promise<void> {
  const flowing = streams.catch((error: unknown) => {
    if (!isBrokenPipe(error)) child.kill('SIGKILL');
    throw error;
  });
  const [program, flow] = await Promise.allSettled([exited, flowing]);
  if (flow.status === 'rejected' && !isBrokenPipe(flow.reason)) throw flow.reason;
  if (program.status === 'rejected') throw program.reason;
  if (flow.status === 'rejected') throw flow.reason;
}

const isBrokenPipe = (error: unknown): boolean =>
  error instanceof Error &&
  'code' in error &&
  ['EPIPE', 'ECONNRESET', 'ERR_STREAM_PREMATURE_CLOSE'].includes(String(error.code));

interface Tar {
  child: ChildProcess;
  stdin: Writable;
  stdout: Readable;
  /** Rejects with tar's error output. */
  exited: Promise<void>;
}

function startTar(tools: Tools, args: string[]): Tar {
  const child = spawn('tar', args, {
    cwd: tools.cacheDir,
    stdio: ['pipe', 'pipe', 'pipe'],
    env: { ...tools.environment, ...variablesOf(tools.user) },
    ...(tools.user === null ? {} : { uid: tools.user.uid, gid: tools.user.gid }),
    ...(tools.signal === undefined ? {} : { signal: tools.signal }),
  });
  const { stdin, stdout } = child;
  let said = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => (said = `${said}${text}`.slice(-2_000)));
  const exited = new Promise<void>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code, signal) =>
      code === 0 ? resolve() : reject(new Error(`tar ended with ${code ?? signal}: ${said.trim()}`)),
    );
  });
  return { child, stdin, stdout, exited };
}

function counted({ maxBytes = Number.MAX_SAFE_INTEGER, hash }: { maxBytes?: number; hash?: Hash } = {}): {
  stream: Transform;
  bytes: () => number;
} {
  let bytes = 0;
  const stream = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      bytes += chunk.byteLength;
      hash?.update(chunk);
      if (bytes > maxBytes) done(new TooLarge(`it has more than ${maxBytes} bytes`));
      else done(null, chunk);
    },
  });
  return { stream, bytes: () => bytes };
}
