// Relays signals to the command that `cluster exec` runs, and keeps this process alive until the command has ended.
import { constants } from 'node:os';

export interface SignalRelay {
  /** The first signal, or null. */
  received(): NodeJS.Signals | null;
  /** Sets the receiver of later signals. */
  to(send: (signal: NodeJS.Signals) => void): void;
  close(): void;
}

/** A terminal sends these to all of its foreground processes, including the command. */
const fromTerminal: NodeJS.Signals[] = ['SIGINT', 'SIGQUIT'];
const others: NodeJS.Signals[] = ['SIGTERM', 'SIGHUP'];

/** A wrapper, bin/ropewalk.mjs, relays signals too: equal signals this close together count as one. */
const sameMs = 500;

export function createSignalRelay(isTerminal = hasTerminal()): SignalRelay {
  let first: NodeJS.Signals | null = null;
  let send: ((signal: NodeJS.Signals) => void) | null = null;
  let lastMs = Number.NEGATIVE_INFINITY;
  const onSignal = (signal: NodeJS.Signals): void => {
    const again = signal === first && Date.now() - lastMs < sameMs;
    first ??= signal;
    lastMs = Date.now();
    // The command has received a Ctrl-C from the terminal. Many programs exit immediately on a second one.
    if (again || (isTerminal && fromTerminal.includes(signal))) return;
    send?.(signal);
  };
  for (const signal of [...fromTerminal, ...others]) process.on(signal, onSignal);
  return {
    received: () => first,
    to: (target) => {
      send = target;
    },
    close: () => {
      for (const signal of [...fromTerminal, ...others]) process.off(signal, onSignal);
    },
  };
}

/** The shell's exit code for it. */
export function exitCodeOfSignal(signal: NodeJS.Signals): number {
  return 128 + constants.signals[signal];
}

function hasTerminal(): boolean {
  return [process.stdin, process.stdout, process.stderr].some((stream) => stream.isTTY);
}
