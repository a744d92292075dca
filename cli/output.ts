// Results to stdout, everything else to stderr. Text that came from tasks or other people never reaches a terminal with
// its control characters: they can move the cursor, forge lines, or make a terminal type.
import { once } from 'node:events';
import type { Writable } from 'node:stream';

export interface Output {
  /** A line (or lines) of the result. */
  out(text: string): void;
  /** Like out, but resolves when there is room for more: for logs of any length. */
  outLine(text: string): Promise<void>;
  /** A result for programs. */
  json(value: unknown): void;
  /** Notes, warnings, errors. */
  err(text: string): void;
  /** Where progress is: on a terminal it replaces the line before. */
  progress(text: string): void;
  /** Takes the last progress off a terminal: somebody else writes there now. */
  endProgress(): void;
}

export function createOutput(stdout: Writable, stderr: Writable & { isTTY?: boolean }): Output {
  let shown = '';
  const eraseProgress = (): void => {
    if (stderr.isTTY === true && shown !== '') stderr.write('\r\u001b[K');
    shown = '';
  };
  const write = (text: string): boolean => {
    eraseProgress();
    return stdout.write(`${cleanLines(text)}\n`);
  };
  return {
    out: (text) => void write(text),
    outLine: async (text) => {
      if (!write(text)) await once(stdout, 'drain');
    },
    json: (value) => {
      eraseProgress();
      stdout.write(`${toJson(value, 2)}\n`);
    },
    err: (text) => {
      eraseProgress();
      stderr.write(`${cleanLines(text)}\n`);
    },
    endProgress: eraseProgress,
    progress: (text) => {
      if (text === shown) return;
      eraseProgress();
      shown = text;
      stderr.write(stderr.isTTY === true ? clean(text) : `${clean(text)}\n`);
    },
  };
}

/** JSON that is safe to look at: the control characters that JSON itself lets through are escaped as well. */
export function toJson(value: unknown, indent = 0): string {
  return JSON.stringify(value, null, indent).replace(
    /[\u007f-\u009f\u2028-\u202e\u2066-\u2069]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

// Sequences of ECMA-48, after one ESC or its eight-bit form: CSI, then strings (OSC, DCS, SOS, PM, APC) up to their end,
// then two-character escapes. Written as texts because a pattern of control characters is usually a mistake.
const csi = '(?:\\u001b\\[|\\u009b)[0-?]*[ -/]*[@-~]';
const string =
  '(?:\\u001b[\\]PX^_]|[\\u009d\\u0090\\u0098\\u009e\\u009f])[^\\u0007\\u001b\\u009c]*(?:\\u0007|\\u001b\\\\|\\u009c)?';
const short = '\\u001b[ -/]*[0-~]?';
const escapes = new RegExp([csi, string, short].join('|'), 'g');
// All control characters but the tab, and those that reverse the direction of what follows.
const controls = /(?!\t)\p{Cc}|[\u2028-\u202e\u2066-\u2069]/gu;

/** One line of text without terminal escapes and control characters. */
export function clean(text: string): string {
  return text.replace(escapes, '').replace(controls, '');
}

function cleanLines(text: string): string {
  return text.split('\n').map(clean).join('\n');
}
