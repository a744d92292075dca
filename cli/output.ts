// Results go to stdout, everything else to stderr. Text from tasks and other users is printed without control characters: they
// can move the cursor, forge lines, or make a terminal send input.
import { once } from 'node:events';
import type { Writable } from 'node:stream';

export interface Output {
  /** One or more lines of the result. */
  out(text: string): void;
  /** Like `out`, but resolves when the stream accepts more: for logs of any length. */
  outLine(text: string): Promise<void>;
  /** A result as JSON. */
  json(value: unknown): void;
  /** Notes, warnings, errors. */
  err(text: string): void;
  /**
   * A line of progress. On a terminal it replaces the previous line of progress; `detail` changes all the time and is only
   * shown there.
   */
  progress(text: string, detail?: string): void;
  /** The terminal for `panel`; null where progress is printed as lines. */
  screen(): Screen | null;
  /**
   * Progress of several lines, without control characters except colors, each narrower than the screen; replaces the previous
   * panel.
   */
  panel(lines: readonly string[]): void;
  /** Keeps the panel on the screen, above later output. */
  keepPanel(): void;
  /** Erases the last line of progress, before another program writes to the terminal. */
  endProgress(): void;
}

export interface Screen {
  columns: number;
  rows: number;
  colors: boolean;
}

export type ErrorStream = Writable & { isTTY?: boolean; columns?: number; rows?: number };

export function createOutput(
  stdout: Writable,
  stderr: ErrorStream,
  environment: Record<string, string | undefined> = {},
): Output {
  let shown = '';
  /** Lines of the displayed panel; its last line has no line break. */
  let drawn = 0;
  const eraseProgress = (): void => {
    if (stderr.isTTY === true && drawn > 1) stderr.write(`\u001b[${drawn - 1}A`);
    if (stderr.isTTY === true && shown !== '') stderr.write('\r\u001b[J');
    shown = '';
    drawn = 0;
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
    screen: () => {
      if (stderr.isTTY !== true || environment['TERM'] === 'dumb') return null;
      // A terminal of unknown size reports 0.
      return { columns: stderr.columns || 80, rows: stderr.rows || 24, colors: (environment['NO_COLOR'] ?? '') === '' };
    },
    panel: (lines) => {
      const text = lines.join('\n');
      if (text === shown) return;
      // Drawn over the previous panel: erasing the screen first would flicker. Line wrap is off, so that a wide character
      // cannot break a line and the next panel moves up exactly as far as this one moved down.
      const up = drawn > 1 ? `\u001b[${drawn - 1}A\r` : '\r';
      stderr.write(`${up}\u001b[?7l${lines.join('\u001b[K\n')}\u001b[K\u001b[J\u001b[?7h`);
      shown = text;
      drawn = lines.length;
    },
    keepPanel: () => {
      if (drawn === 0) return;
      stderr.write('\n');
      shown = '';
      drawn = 0;
    },
    progress: (text, detail = '') => {
      const line = stderr.isTTY === true ? `${text} ${detail}`.trimEnd() : text;
      if (line === shown) return;
      eraseProgress();
      shown = line;
      stderr.write(stderr.isTTY === true ? clean(line) : `${clean(line)}\n`);
    },
  };
}

/** JSON that is safe to print: control characters that JSON allows are escaped too. */
export function toJson(value: unknown, indent = 0): string {
  return JSON.stringify(value, null, indent).replace(
    /[\u007f-\u009f\u2028-\u202e\u2066-\u2069]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

// Sequences of ECMA-48, after one ESC or its eight-bit form: CSI, then strings (OSC, DCS, SOS, PM, APC) up to their end,
// then two-character escapes.
const csi = '(?:\\u001b\\[|\\u009b)[0-?]*[ -/]*[@-~]';
const string =
  '(?:\\u001b[\\]PX^_]|[\\u009d\\u0090\\u0098\\u009e\\u009f])[^\\u0007\\u001b\\u009c]*(?:\\u0007|\\u001b\\\\|\\u009c)?';
const short = '\\u001b[ -/]*[0-~]?';
const escapes = new RegExp([csi, string, short].join('|'), 'g');
// All control characters except the tab, and characters that reverse the direction of text.
const controls = /(?!\t)\p{Cc}|[\u2028-\u202e\u2066-\u2069]/gu;

/** One line of text without terminal escapes and control characters. */
export function clean(text: string): string {
  return text.replace(escapes, '').replace(controls, '');
}

function cleanLines(text: string): string {
  return text.split('\n').map(clean).join('\n');
}
