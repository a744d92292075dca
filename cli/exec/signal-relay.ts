// Signals that are meant for the command that we run for somebody: they reach it, and they do not end us before it.
import { constants } from 'node:os';

export interface SignalRelay {
  /** The first one so far. */
  received(): NodeJS.Signals | null;
  /** Where they go from now on. */
  to(send: (signal: NodeJS.Signals) => void): void;
  close(): void;
}

/** Those a terminal sends to all of its foreground processes at once, the command among them. */
const fromTerminal: NodeJS.Signals[] = ['SIGINT', 'SIGQUIT'];
const others: NodeJS.Signals[] = ['SIGTERM', 'SIGHUP'];

/** A wrapper around us may pass on what we have received already: signals this close together are one. */
const sameMs = 500;

export function createSignalRelay(isTerminal = hasTerminal()): SignalRelay {
  let first: NodeJS.Signals | null = null;
  let send: ((signal: NodeJS.Signals) => void) | null = null;
  let lastMs = Number.NEGATIVE_INFINITY;
  const onSignal = (signal: NodeJS.Signals): void => {
    const again = signal === first && Date.now() - lastMs < sameMs;
    first ??= signal;
    lastMs = Date.now();
    // Passed on, a Ctrl-C would be two for the command; and for many programs the second one means "at once".
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

/** As shells count. */
export function exitCodeOfSignal(signal: NodeJS.Signals): number {
  return 128 + constants.signals[signal];
}

function hasTerminal(): boolean {
  return [process.stdin, process.stdout, process.stderr].some((stream) => stream.isTTY);
}
