// Rows of a CSV file (RFC 4180), which may be compressed with gzip: fields may be quoted, and hold commas, quotes and line breaks.
import { createReadStream } from 'node:fs';
import { createGunzip } from 'node:zlib';

/** The first row names the columns. Rejects as reading the file does. */
export async function* readCsv(path: string): AsyncGenerator<ReadonlyMap<string, string>> {
  const file = createReadStream(path);
  const bytes = path.endsWith('.gz') ? file.pipe(createGunzip()) : file;
  // A file that cannot be read ends the reader of its decompressed bytes too.
  file.on('error', (error) => bytes.destroy(error));
  let columns: readonly string[] | null = null;
  const rows = createRows();
  for await (const text of bytes.setEncoding('utf8')) {
    for (const fields of rows.read(String(text))) {
      if (columns === null) columns = fields;
      else yield rowOf(columns, fields);
    }
  }
  const last = rows.end();
  if (last !== null && columns !== null) yield rowOf(columns, last);
}

const rowOf = (columns: readonly string[], fields: readonly string[]): ReadonlyMap<string, string> =>
  new Map(columns.map((column, at) => [column, fields[at] ?? '']));

/** A quote within a quoted field is written twice. */
function createRows(): { read: (text: string) => string[][]; end: () => string[] | null } {
  let field = '';
  let fields: string[] = [];
  let state: 'plain' | 'quoted' | 'quote in quoted' = 'plain';
  const endField = (): void => {
    fields.push(field);
    field = '';
    state = 'plain';
  };
  return {
    read(text) {
      const rows: string[][] = [];
      for (const char of text) {
        if (state === 'quoted') {
          if (char === '"') state = 'quote in quoted';
          else field += char;
        } else if (char === '"') {
          if (state === 'quote in quoted') field += char;
          state = 'quoted';
        } else if (char === ',') endField();
        else if (char === '\n') {
          endField();
          rows.push(fields);
          fields = [];
        } else if (char !== '\r') field += char;
      }
      return rows;
    },
    end() {
      if (field === '' && fields.length === 0) return null;
      endField();
      return fields;
    },
  };
}
