// Formats a table with a border.
import { clean } from './output.ts';

export interface Column {
  title: string;
  align: 'left' | 'right' | 'center';
}

export function formatTable(columns: readonly Column[], rows: readonly (readonly string[])[]): string {
  const cells = rows.map((row) => columns.map((_, i) => clean((row[i] ?? '').replace(/[\t\r\n]+/g, ' '))));
  const widths = columns.map(({ title }, i) =>
    Math.max(title.length, ...cells.map((row) => [...(row[i] ?? '')].length)),
  );
  const border = (left: string, fill: string, between: string, right: string): string =>
    left + widths.map((width) => fill.repeat(width + 2)).join(between) + right;
  const line = (side: string, texts: readonly string[]): string => {
    const padded = columns.map(({ align }, i) => ` ${pad(texts[i] ?? '', widths[i] ?? 0, align)} `);
    return `${side}${padded.join(side)}${side}`;
  };
  return [
    border('┏', '━', '┳', '┓'),
    line(
      '┃',
      columns.map(({ title }) => title),
    ),
    border('┡', '━', '╇', '┩'),
    ...cells.map((row) => line('│', row)),
    border('└', '─', '┴', '┘'),
  ].join('\n');
}

function pad(text: string, width: number, align: Column['align']): string {
  const missing = Math.max(0, width - [...text].length);
  const before = align === 'left' ? 0 : align === 'right' ? missing : Math.floor(missing / 2);
  return ' '.repeat(before) + text + ' '.repeat(missing - before);
}
