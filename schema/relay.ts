// The frames between an agent and the API on GET /v1/agent/relay, one per binary WebSocket message. The API opens streams, each one connection to the
// Dask dashboard of the head instance, whose address only the agent knows. Our own frames contain no secrets; the content of streams is not inspected
// here.

export const relayPath = '/v1/agent/relay';

/** The path of a cluster's Jupyter server, for browsers and as that server's own base path. */
export const jupyterRoot = (cluster: number): string => `/clusters/${cluster}/jupyter/`;

/** The cluster's number, for routing to a replica: docs/dashboard.md. It proves nothing. */
export const relayClusterHeader = 'ropewalk-cluster';

/** Maximum unacknowledged bytes on a stream, and thus the most that a slow reader makes a side buffer. */
export const relayWindowBytes = 128 * 1024;

/** Maximum payload of one data frame. */
export const maxRelayPayloadBytes = 32 * 1024;

/** Maximum streams at a time on one agent's connection. A browser tab needs a few: one permanent, more while it loads. */
export const maxRelayStreams = 100;

/** Maximum characters of the reason why a stream was cut. */
export const maxRelayReasonChars = 200;

/** Interval of the API's pings; a side that has received nothing for three times as long closes the connection. */
export const relayPingEveryMs = 15_000;

/** Our own close codes, which inform the agent why the connection was closed. */
export const relayCloseCodes = { replaced: 4001, protocol: 4002, silent: 4003, draining: 4004 } as const;

export type RelayFrame =
  | { kind: 'open'; stream: number }
  | { kind: 'data'; stream: number; bytes: Uint8Array }
  /** The other side has read this many bytes, so as many more may be sent. */
  | { kind: 'taken'; stream: number; count: number }
  /** This side sends no more. */
  | { kind: 'end'; stream: number }
  /** The stream ends at once, in both directions. */
  | { kind: 'cut'; stream: number; reason: string }
  | { kind: 'ping' }
  | { kind: 'pong' };

/** The index is the number in the frame. */
const kinds = ['open', 'data', 'taken', 'end', 'cut', 'ping', 'pong'] as const;
const headerBytes = 5;

/** Maximum length of a frame. */
export const maxRelayFrameBytes = headerBytes + maxRelayPayloadBytes;

export function encodeFrame(frame: RelayFrame): Uint8Array<ArrayBuffer> {
  const payload = payloadOf(frame);
  const bytes = new Uint8Array(headerBytes + payload.length);
  bytes[0] = kinds.indexOf(frame.kind);
  new DataView(bytes.buffer).setUint32(1, 'stream' in frame ? frame.stream : 0);
  bytes.set(payload, headerBytes);
  return bytes;
}

/** Null for an invalid frame. The bytes of a data frame are a view of `bytes`. */
export function decodeFrame(bytes: Uint8Array): RelayFrame | null {
  const kind = kinds[bytes[0] ?? kinds.length];
  if (kind === undefined || bytes.length < headerBytes || bytes.length > maxRelayFrameBytes) return null;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const stream = view.getUint32(1);
  const payload = bytes.subarray(headerBytes);
  switch (kind) {
    case 'data':
      return payload.length === 0 ? null : { kind, stream, bytes: payload };
    case 'taken':
      return payload.length === 4 ? { kind, stream, count: view.getUint32(headerBytes) } : null;
    case 'cut':
      return { kind, stream, reason: new TextDecoder().decode(payload).slice(0, maxRelayReasonChars) };
    case 'open':
    case 'end':
      return payload.length === 0 ? { kind, stream } : null;
    case 'ping':
    case 'pong':
      return payload.length === 0 && stream === 0 ? { kind } : null;
  }
}

function payloadOf(frame: RelayFrame): Uint8Array {
  if (frame.kind === 'data') return frame.bytes;
  if (frame.kind === 'cut') return new TextEncoder().encode(frame.reason.slice(0, maxRelayReasonChars));
  if (frame.kind !== 'taken') return new Uint8Array(0);
  const count = new Uint8Array(4);
  new DataView(count.buffer).setUint32(0, frame.count);
  return count;
}
