// The agent's side of the scheduler's preload: listens on a unix socket, keeps the scheduler's latest state, sends orders. The
// scheduler connects, and reconnects after either side restarted. Orders are never logged.
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
  /** The value of ROPEWALK_SCHEDULER_SOCKET for the scheduler. */
  socketPath: string;
  /** Rejects without a hello message within the limit: the scheduler is then unmanageable. */
  whenHello: (timeoutMs: number) => Promise<Hello>;
  /** Resolves with the first state, including the latest, that satisfies `holds`. */
  whenState: (holds: (state: SchedulerState) => boolean, timeoutMs: number, what: string) => Promise<SchedulerState>;
  /** The latest state, with times by `performance.now()`; null before the first. */
  state: () => SchedulerState | null;
  isConnected: () => boolean;
  /** Rejects when the scheduler refuses or fails, is unreachable, or does not answer in time. Any order may be repeated. */
  order: <K extends OrderKind>(kind: K, order: Orders[K], timeoutMs?: number) => Promise<Answers[K]>;
  close: () => Promise<void>;
}

export interface SchedulerLinkOptions {
  /** Called for each hello and each state; the cluster's report is made from them. */
  onChange?: () => void;
  /** Called when the other side violates the protocol. */
  onTrouble?: (text: string) => void;
  /** The socket of an earlier link whose scheduler still runs; by default a new one, in a new directory. */
  socketPath?: string;
  /**
   * The agent's own directory for it. By default, and where its path is too long for a socket, the system's temporary
   * directory.
   */
  parent?: string;
  /** The scheduler's user; null for the agent's own. */
  user?: TaskUser | null;
}

/** Answer timeout, in addition to a drain's own time. */
const orderTimeoutMs = 30_000;
/** Room for thousands of workers; a longer line is not one of our messages. */
const maxLineChars = 16 * 1024 * 1024;
/** The strictest system's kernel truncates longer paths. */
const maxSocketPathBytes = 103;

export async function createSchedulerLink(options: SchedulerLinkOptions = {}): Promise<SchedulerLink> {
  const { onChange = () => undefined, onTrouble = () => undefined, user = null } = options;
  const socketPath = options.socketPath ?? (await newSocketPath(options.parent ?? tmpdir(), user));
  let connection: Socket | null = null;
  let greeting: Hello | null = null;
  let latest: SchedulerState | null = null;
  let nextId = 1;
  /** Offset from the scheduler's monotonic clock to this process's `performance.now()`. */
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
  /** Rejects pending orders, because an answer on a new connection would be dropped. */
  const giveUpAsked = (): void => {
    for (const { reject } of asked.values()) reject(new Error('the Dask scheduler went away before it answered'));
    asked.clear();
  };
  const accept = (socket: Socket): void => {
    // Only the newest connection is alive. It may arrive before the end of the previous one is noticed.
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

/** The directory stays the agent's; only the socket belongs to the scheduler's user. */
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
    // Connecting requires write permission, which no other user has.
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

/** The only cast of this folder: `Answers[kind]` is inferred from `answers[kind]`. */
function parseAnswer<K extends OrderKind>(kind: K, message: object): Answers[K] {
  return answers[kind].parse(message) as Answers[K];
}
