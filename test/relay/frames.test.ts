// Frames and streams by themselves: the valid contents of the wire, and how much one side can make the other buffer.
import type { Duplex } from 'node:stream';

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import {
  decodeFrame,
  encodeFrame,
  maxRelayPayloadBytes,
  maxRelayReasonChars,
  relayWindowBytes,
  type RelayFrame,
} from '../../schema/relay.ts';
import { createRelayStreams } from '../../schema/relay-streams.ts';
import { eventually } from '../support/eventually.ts';

const stream = fc.integer({ min: 0, max: 0xffff_ffff });
const frame: fc.Arbitrary<RelayFrame> = fc.oneof(
  fc.record({ kind: fc.constantFrom('open', 'end'), stream }),
  fc.record({
    kind: fc.constant('data'),
    stream,
    bytes: fc.uint8Array({ minLength: 1, maxLength: maxRelayPayloadBytes }),
  }),
  fc.record({ kind: fc.constant('taken'), stream, count: stream }),
  fc.record({ kind: fc.constant('cut'), stream, reason: fc.string({ maxLength: maxRelayReasonChars }) }),
  fc.record({ kind: fc.constantFrom('ping', 'pong') }),
);

describe('frames', () => {
  it('are decoded as they were encoded', () => {
    fc.assert(
      fc.property(frame, (one) => {
        expect(decodeFrame(encodeFrame(one))).toEqual(one);
      }),
    );
  });

  it('are recognized among arbitrary bytes: a decoded frame encodes to the same bytes', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 40 }), (bytes) => {
        const found = decodeFrame(bytes);
        // A reason need not be text in UTF-8; everything else has exactly one encoding.
        if (found !== null && found.kind !== 'cut') expect(encodeFrame(found)).toEqual(bytes);
      }),
    );
    expect(decodeFrame(new Uint8Array(maxRelayPayloadBytes + 6).fill(1))).toBeNull();
  });
});

describe('streams', () => {
  it('carry both ways what is written, in any portions, and end', async () => {
    const { opened, accepted } = pair();
    const sizes = [1, relayWindowBytes * 3 + 7, 5, maxRelayPayloadBytes + 1, 0, 100];
    const chunks = sizes.map((size, index) => Buffer.alloc(size, index + 1));
    for (const side of [opened, accepted]) {
      for (const chunk of chunks) side.write(chunk);
      side.end();
    }
    for (const read of await Promise.all([all(opened), all(accepted)])) {
      expect(Buffer.compare(read, Buffer.concat(chunks))).toBe(0);
    }
    await eventually(() => opened.destroyed && accepted.destroyed);
  });

  it('stop the sender while the receiver does not read, hold no more than the window, and go on when it reads', async () => {
    const { opened, accepted, sent } = pair();
    const wanted = relayWindowBytes * 8;
    let written = 0;
    const writeOn = (): void => {
      while (written < wanted) {
        written += 1024;
        if (!accepted.write(Buffer.alloc(1024))) {
          accepted.once('drain', writeOn);
          return;
        }
      }
      accepted.end();
    };
    writeOn();
    // A listener for `readable` fills the buffer, but consumes nothing from it.
    opened.on('readable', () => undefined);
    await eventually(() => accepted.writableNeedDrain && opened.readableLength > 0);
    const held = sent.bytes;
    // The window plus the reader's own buffer.
    expect(held).toBeLessThanOrEqual(relayWindowBytes + 3 * maxRelayPayloadBytes);
    expect(written).toBeLessThanOrEqual(held + 2 * maxRelayPayloadBytes);
    opened.removeAllListeners('readable');
    expect((await all(opened)).length).toBe(wanted);
  });

  it('give the other side the error with which one side ended', async () => {
    const { opened, accepted } = pair();
    accepted.destroy(new Error('the target reset the connection'));
    const error = await new Promise((resolve) => opened.once('error', resolve));
    expect(error).toMatchObject({ message: 'the target reset the connection' });
  });

  it('beyond the limit are refused, and make room when they end', async () => {
    const { near } = pair({ maxStreams: 2 });
    const second = near.open();
    expect(second).not.toBeNull();
    expect(near.open()).toBeNull();
    second?.destroy();
    await eventually(() => near.count() === 1);
    expect(near.open()).not.toBeNull();
  });

  it.each<[string, RelayFrame[]]>([
    ['opens on the side that opens', [{ kind: 'open', stream: 9 }]],
    ['speaks on what was never opened', [{ kind: 'end', stream: 5 }]],
    ['sends beyond the window', Array.from({ length: 8 }, () => data(maxRelayPayloadBytes))],
    ['takes more than was sent', [{ kind: 'taken', stream: 1, count: 1 }]],
    [
      'ends twice',
      [
        { kind: 'end', stream: 1 },
        { kind: 'end', stream: 1 },
      ],
    ],
    ['sends after its end', [{ kind: 'end', stream: 1 }, data(1)]],
  ])('report a peer that %s', (_what, frames) => {
    const near = createRelayStreams({ send: () => undefined });
    near.open();
    const outcomes = frames.map((one) => near.receive(encodeFrame(one)));
    expect(outcomes.at(-1)).toBe('broken');
  });

  it('accept late frames of a stream that has ended', () => {
    const near = createRelayStreams({ send: () => undefined });
    near.open()?.destroy();
    expect(near.receive(encodeFrame(data(10)))).toBe('stream');
  });
});

const data = (size: number): RelayFrame => ({ kind: 'data', stream: 1, bytes: new Uint8Array(size) });

/** Two ends whose frames arrive in order, a little later. */
function pair({ maxStreams = 10 } = {}) {
  const accepted: Duplex[] = [];
  const sent = { bytes: 0 };
  const far = createRelayStreams({
    send: (bytes) => {
      if (decodeFrame(bytes)?.kind === 'data') sent.bytes += bytes.length - 5;
      setImmediate(() => expect(near.receive(bytes)).toBe('stream'));
    },
    accept: (one) => void accepted.push(one),
  });
  const near = createRelayStreams({ maxStreams, send: (bytes) => void far.receive(bytes) });
  const opened = near.open();
  const [first] = accepted;
  if (opened === null || first === undefined) throw new Error('not opened');
  return { near, opened, accepted: first, sent };
}

/** Not by iterating, which would end the other direction too. */
async function all(from: Duplex): Promise<Buffer> {
  const chunks: Buffer[] = [];
  from.on('data', (chunk: Buffer) => chunks.push(chunk));
  await new Promise((resolve) => from.once('end', resolve));
  return Buffer.concat(chunks);
}
