// Many streams over one connection, for both of its ends. Each is a Node duplex whose sender stops when the window is full, so a slow browser or
// dashboard never makes either side buffer more than the window. A protocol violation of the peer is reported, and its message ignored.
import { Duplex } from 'node:stream';

import { decodeFrame, encodeFrame, maxRelayPayloadBytes, maxRelayStreams, relayWindowBytes } from './relay.ts';
import type { RelayFrame } from './relay.ts';

export interface RelayStreams {
  /** Opens a stream; null when there are too many or the connection has ended. Only for the opening side. */
  open: () => Duplex | null;
  /** Handles a message of the connection. The caller handles pings, and closes a broken connection. */
  receive: (message: Uint8Array) => 'stream' | 'ping' | 'pong' | 'broken';
  /** Ends every stream with `reason`, because the connection has ended. */
  close: (reason: string) => void;
  count: () => number;
}

export interface RelayStreamsOptions {
  send: (frame: Uint8Array<ArrayBuffer>) => void;
  /** Called for each stream that the other side opens; absent on the opening side. */
  accept?: (stream: Duplex) => void;
  maxStreams?: number;
}

export function createRelayStreams(options: RelayStreamsOptions): RelayStreams {
  const { accept, maxStreams = maxRelayStreams } = options;
  const streams = new Map<number, RelayStream>();
  let lastId = 0;
  let isClosed = false;
  const send = (frame: RelayFrame): void => {
    if (!isClosed) options.send(encodeFrame(frame));
  };
  const add = (id: number): RelayStream => {
    const stream = createStream({ id, send, over: () => streams.delete(id) });
    streams.set(id, stream);
    lastId = id;
    return stream;
  };
  const accepted = (id: number): 'stream' | 'broken' => {
    // Numbers only grow, so a late frame for an ended stream cannot reach another stream.
    if (accept === undefined || id <= lastId) return 'broken';
    if (streams.size >= maxStreams) {
      lastId = id;
      send({ kind: 'cut', stream: id, reason: 'too many streams' });
      return 'stream';
    }
    accept(add(id).duplex);
    return 'stream';
  };
  return {
    open: () => {
      if (isClosed || streams.size >= maxStreams || lastId >= 0xffff_ffff) return null;
      const id = lastId + 1;
      send({ kind: 'open', stream: id });
      return add(id).duplex;
    },
    receive: (message) => {
      const frame = decodeFrame(message);
      if (frame === null) return 'broken';
      if (frame.kind === 'ping' || frame.kind === 'pong') return frame.kind;
      if (frame.kind === 'open') return accepted(frame.stream);
      if (frame.stream > lastId) return 'broken';
      // A frame for a stream that just ended here is no violation: it was already under way.
      return streams.get(frame.stream)?.receive(frame) === false ? 'broken' : 'stream';
    },
    close: (reason) => {
      isClosed = true;
      for (const { duplex } of streams.values()) duplex.destroy(new Error(reason));
    },
    count: () => streams.size,
  };
}

interface RelayStream {
  duplex: Duplex;
  /** False when the frame violates the protocol. */
  receive: (frame: Exclude<RelayFrame, { kind: 'open' | 'ping' | 'pong' }>) => boolean;
}

interface StreamOptions {
  id: number;
  send: (frame: RelayFrame) => void;
  over: () => void;
}

/** Acknowledged in batches, so small reads do not cost a frame each. */
const acknowledgeBytes = relayWindowBytes / 4;

function createStream({ id, send, over }: StreamOptions): RelayStream {
  let mayStillSend = relayWindowBytes;
  let unsent: { bytes: Uint8Array; done: () => void } | null = null;
  const unread: Uint8Array[] = [];
  /** The reader has room: false from its refusal until its next request. */
  let isWanted = false;
  /** Received from the other side but not acknowledged; never more than the window. */
  let unacknowledgedBytes = 0;
  let takenBytes = 0;
  const ended = { here: false, there: false, pushed: false };

  const sendOn = (): void => {
    while (unsent !== null && unsent.bytes.length > 0 && mayStillSend > 0) {
      const bytes = unsent.bytes.subarray(0, Math.min(mayStillSend, maxRelayPayloadBytes));
      mayStillSend -= bytes.length;
      unsent.bytes = unsent.bytes.subarray(bytes.length);
      send({ kind: 'data', stream: id, bytes });
    }
    if (unsent === null || unsent.bytes.length > 0) return;
    const { done } = unsent;
    unsent = null;
    done();
  };
  const pushOn = (): void => {
    while (isWanted) {
      const bytes = unread.shift();
      if (bytes === undefined) break;
      takenBytes += bytes.length;
      isWanted = duplex.push(bytes);
    }
    if (takenBytes >= acknowledgeBytes && !ended.there) {
      send({ kind: 'taken', stream: id, count: takenBytes });
      unacknowledgedBytes -= takenBytes;
      takenBytes = 0;
    }
    if (ended.there && unread.length === 0 && !ended.pushed) {
      ended.pushed = true;
      duplex.push(null);
    }
  };
  const duplex = new Duplex({
    readableHighWaterMark: maxRelayPayloadBytes,
    writableHighWaterMark: maxRelayPayloadBytes,
    read() {
      isWanted = true;
      pushOn();
    },
    write(chunk: Uint8Array, _encoding, callback) {
      unsent = { bytes: chunk, done: callback };
      sendOn();
    },
    final(callback) {
      ended.here = true;
      send({ kind: 'end', stream: id });
      callback();
    },
    destroy(error, callback) {
      over();
      if (!(ended.here && ended.there)) send({ kind: 'cut', stream: id, reason: error?.message ?? '' });
      unread.length = 0;
      callback(error);
    },
  });
  // The user of the stream learns of its end by `close`; without a listener an error would end the process.
  duplex.on('error', () => undefined);

  return {
    duplex,
    receive: (frame) => {
      switch (frame.kind) {
        case 'data':
          unacknowledgedBytes += frame.bytes.length;
          if (ended.there || unacknowledgedBytes > relayWindowBytes) return false;
          unread.push(frame.bytes);
          pushOn();
          return true;
        case 'taken':
          mayStillSend += frame.count;
          if (mayStillSend > relayWindowBytes) return false;
          sendOn();
          return true;
        case 'end':
          if (ended.there) return false;
          ended.there = true;
          pushOn();
          return true;
        case 'cut':
          ended.here = true;
          ended.there = true;
          duplex.destroy(new Error(frame.reason === '' ? 'the other side hung up' : frame.reason));
          return true;
      }
    },
  };
}
