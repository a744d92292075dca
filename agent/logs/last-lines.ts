// The last lines of a process's output, for the sentence that says how it ended.
import type { LineSink } from './lines.ts';

const shownLines = 3;
const maxShownChars = 600;

export interface LastLines {
  /** Passes everything on. */
  sink: LineSink;
  /** A sentence: the last lines, or that there were none. */
  sentence: () => string;
}

export function rememberLastLines(output: LineSink): LastLines {
  const last: string[] = [];
  return {
    sink: {
      ...output,
      append: (stream, lines) => {
        last.push(...lines.slice(-shownLines));
        last.splice(0, last.length - shownLines);
        return output.append(stream, lines);
      },
    },
    sentence: () =>
      last.length === 0 ? 'It printed nothing.' : `Its last lines: ${last.join(' / ').slice(-maxShownChars)}`,
  };
}
