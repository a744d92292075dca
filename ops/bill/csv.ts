// Rows of a CSV file, which may be compressed with gzip.
import { createReadStream } from 'node:fs';
import { pipeline } from 'node:stream';
import { createGunzip } from 'node:zlib';

import { parse } from 'csv-parse';

/** The first row names the columns. Rejects when the file cannot be read, and for a row with fewer or more fields. */
export async function* readCsv(path: string): AsyncGenerator<ReadonlyMap<string, string>> {
  const rows = parse({ bom: true, columns: true });
  const parts = [createReadStream(path), ...(path.endsWith('.gz') ? [createGunzip()] : []), rows];
  // An error of any part destroys the last one with that error.
  pipeline(parts, () => undefined);
  for await (const row of rows) yield new Map(Object.entries<string>(row));
}
