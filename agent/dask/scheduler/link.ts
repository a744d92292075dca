// The agent's side of the scheduler's preload: listens on a unix socket, keeps the scheduler's latest state, gives orders.
// The scheduler dials in, so that it finds us again after either side was away. Nothing of an order is ever logged.
import { lchown, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import type { Server, Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

import { answers, fromScheduler } from './messages.ts';
import type { Answers, Hello, OrderKind, Orders, SchedulerState } from './messages.ts';
import { createWaiters } from '../../async/waiters.ts';
import { freshPath, makePassable } from '../../processes/hand-over.ts';
import type { TaskUser } from '../../processes/task-user.ts';

export interface SchedulerLink {
  /** For ROPEWALK_SCHEDULER_SOCKET of the scheduler's environment. */
  socketPath: string;
  /** Rejects when the scheduler has not said hello within the limit: it is then not a scheduler we can manage. */
  whenHello: (timeoutMs: number) => Promise<Hello>;
  /** Resolves with the first state, the latest included, for which `holds`. */
  whenState: (holds: (state: SchedulerState) => boolean, timeoutMs: number, what: string) => Promise<SchedulerState>;
  /** The latest, with times by `performance.now()`; null before the first. */
  state: () => SchedulerState | null;
  isConnected: () => boolean;
  /** Rejects when the scheduler refuses or fails, is unreachable, or does not answer in time. Any order may be given again. */
  order: <K extends OrderKind>(kind: K, order: Orders[K], timeoutMs?: number) => Promise<Answers[K]>;
  close: () => Promise<void>;
}

export interface SchedulerLinkOptions {
  /** Called for each hello and each state: the cluster's report is made from them. */
  onChange?: () => void;
  /** Called when the other side violates the protocol. */
  onTrouble?: (text: string) => void;
  /** Of an earlier link whose scheduler still runs; otherwise a new one is made, in a directory of its own. */
  socketPath?: string;
  /** A directory of the agent's own for it. Default, and where its path is too long for a socket: the system's temporary one. */
  parent?: string;
  /** Who runs the scheduler; null for the agent's own user. */
  user?: TaskUser | null;
}

/** For answers; on top of the time that a drain has for itself. */
const orderTimeoutMs = 30_000;
/** Room for thousands of workers; more on one line is not a message of ours. */
const maxLineChars = 16 * 1024 * 1024;
/** Where a longer path is cut by the kernel, on the strictest system. */
const maxSocketPathBytes = 103;

export async function createSchedulerLink(options: SchedulerLinkOptions = {}): Promise<SchedulerLink> {
  const { onChange = () => undefined, onTrouble = () => undefined, user = null } = options;
  const socketPath = options.socketPath ?? (await newSocketPath(options.parent ?? tmpdir(), user));
  let connection: Socket | null = null;
  let greeting: Hello | null = null;
  let latest: SchedulerState | null = null;
  let nextId = 1;
  /** From the scheduler's monotonic clock to this process's `performance.now()`. */
  let clockOffsetMs = 0;
  const changes = createWaiters();
  const asked = new Map<number, { resolve: (answer: object) => void; reject: (error: Error) => void }>();

  const receive = (line: string): void => {
    const message = parse(line);
    if (message === null) return onTrouble('The Dask scheduler sent a message that this agent does not understand.');
    if (message.kind === 'answer') {
      const waiting = asked.get(message.id);
      asked.delete(message.id);
      if (message.ok) waiting?.resolve(message);
      else waiting?.reject(new Error(`the Dask scheduler could not obey: ${message.error ?? 'it did not say why'}`));
      return;
    }
    if (message.kind === 'hello') {
      greeting = message;
      clockOffsetMs = Math.round(performance.now()) - message.clockMs;
    } else latest = onOwnClock(message, clockOffsetMs);
    changes.check();
    onChange();
  };
  /** Under an order number of its own the answer would be dropped. */
  const giveUpAsked = (): void => {
    for (const { reject } of asked.values()) reject(new Error('the Dask scheduler went away before it answered'));
    asked.clear();
  };
  const accept = (socket: Socket): void => {
    // One scheduler, one connection: the newest is the one that is alive. It may be here before the end of the other is seen.
    connection?.destroy();
    giveUpAsked();
    connection = socket;
    readLines(socket, receive);
    socket.on('error', () => undefined);
    socket.on('close', () => {
      if (connection !== socket) return;
      connection = null;
      giveUpAsked();
    });
  };
  const server = await listen(socketPath, accept);
  if (user !== null) await lchown(socketPath, user.uid, user.gid);

  return {
    socketPath,
    whenHello: async (timeoutMs) => {
      const found = await changes.when(() => greeting, timeoutMs);
      if (found !== null) return found;
      throw new Error(
        `the Dask scheduler did not report to its agent within ${timeoutMs / 1000} s: either it did not start, or it runs ` +
          'without the preload that lets Ropewalk see and drain it. Its log says which.',
      );
    },
    whenState: async (holds, timeoutMs, what) => {
      const found = await changes.when(() => (latest !== null && holds(latest) ? latest : null), timeoutMs);
      if (found !== null) return found;
      throw new Error(`the Dask scheduler's state did not show within ${timeoutMs / 1000} s: ${what}`);
    },
    state: () => latest,
    isConnected: () => connection !== null,
    order: async (kind, order, timeoutMs = timeoutOf(order)) => {
      if (connection === null) throw new Error(`cannot ask the Dask scheduler to ${kind}: it is not connected`);
      const id = nextId;
      nextId += 1;
      const answered = new Promise<object>((resolve, reject) => asked.set(id, { resolve, reject }));
      connection.write(`${JSON.stringify({ ...order, kind, id })}\n`);
      const timer = setTimeout(() => {
        asked.get(id)?.reject(new Error(`the Dask scheduler did not answer ${kind} within ${timeoutMs / 1000} s`));
        asked.delete(id);
      }, timeoutMs);
      const message = await answered.finally(() => clearTimeout(timer));
      return parseAnswer(kind, message);
    },
    close: async () => {
      changes.end();
      connection?.destroy();
      await new Promise((resolve) => server.close(resolve));
      if (options.socketPath === undefined) await rm(dirname(socketPath), { recursive: true, force: true });
    },
  };
}

/** Its directory stays the agent's own: only the socket is the scheduler's. */
async function newSocketPath(parent: string, user: TaskUser | null): Promise<string> {
  const path = join(freshPath(parent, 'rw'), 'scheduler.sock');
  const isTooLong = Buffer.byteLength(path) > maxSocketPathBytes && parent !== tmpdir();
  if (isTooLong) return newSocketPath(tmpdir(), user);
  await makePassable(user, dirname(path));
  return path;
}

async function listen(socketPath: string, accept: (socket: Socket) => void): Promise<Server> {
  if (Buffer.byteLength(socketPath) > maxSocketPathBytes) {
    throw new Error(`the path ${socketPath} is too long for a socket: set TMPDIR to a shorter directory`);
  }
  await rm(socketPath, { force: true });
  const server = createServer(accept);
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    // No other user can write to it, which it takes to connect.
    server.listen(socketPath, resolve);
  });
  return server;
}

function readLines(socket: Socket, receive: (line: string) => void): void {
  let rest: string[] = [];
  let length = 0;
  socket.setEncoding('utf8');
  socket.on('data', (chunk: string) => {
    const [first = '', ...more] = chunk.split('\n');
    rest.push(first);
    length += first.length;
    for (const part of more) {
      receive(rest.join(''));
      rest = [part];
      length = part.length;
    }
    if (length > maxLineChars) socket.destroy();
  });
}

const onOwnClock = (state: SchedulerState, offsetMs: number): SchedulerState =>
  state.idleSinceMs === null ? state : { ...state, idleSinceMs: state.idleSinceMs + offsetMs };

const timeoutOf = (order: Orders[OrderKind]): number =>
  orderTimeoutMs + ('deadlineSeconds' in order ? order.deadlineSeconds * 1000 : 0);

function parse(line: string) {
  try {
    const parsed = fromScheduler.safeParse(JSON.parse(line));
    return parsed.success ? parsed.data : null;
  } catch {
    return null;
  }
}

/** The one cast of this folder: `answers[kind]` is what `Answers[kind]` was inferred from. */
function parseAnswer<K extends OrderKind>(kind: K, message: object): Answers[K] {
  return answers[kind].parse(message) as Answers[K];
}
