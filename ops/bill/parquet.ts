// Rows of a Parquet file, one row group at a time.
import { open } from 'node:fs/promises';
import { brotliDecompressSync, gunzipSync, zstdDecompressSync } from 'node:zlib';

import {
  asyncBufferFromFile,
  type Compressors,
  parquetMetadataAsync,
  parquetReadObjects,
  parquetSchema,
} from 'hyparquet';

/** Snappy is built in. */
const compressors: Compressors = {
  GZIP: (input) => gunzipSync(input),
  ZSTD: (input) => zstdDecompressSync(input),
  BROTLI: (input) => brotliDecompressSync(input),
};

/** A Parquet file begins with these four characters, whatever its name is. */
export async function isParquet(path: string): Promise<boolean> {
  const file = await open(path);
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(4), 0, 4, 0);
    return bytesRead === 4 && buffer.toString('latin1') === 'PAR1';
  } finally {
    await file.close();
  }
}

/**
 * Rows as a CSV file of the same table has them: maps as JSON, times in ISO 8601, an empty text for null. Rejects when the file cannot be read. A file
 * without rows has one with empty values, which names its columns.
 */
export async function* readParquet(
  path: string,
  isNeeded: (column: string) => boolean,
): AsyncGenerator<ReadonlyMap<string, string>> {
  const file = await asyncBufferFromFile(path);
  const metadata = await parquetMetadataAsync(file);
  const columns = parquetSchema(metadata)
    .children.map(({ element }) => element.name)
    .filter(isNeeded);
  if (metadata.row_groups.length === 0 || columns.length === 0) return yield new Map(columns.map((name) => [name, '']));
  let rowStart = 0;
  for (const { num_rows } of metadata.row_groups) {
    const rowEnd = rowStart + Number(num_rows);
    for (const row of await parquetReadObjects({ file, metadata, columns, rowStart, rowEnd, compressors })) {
      yield new Map(columns.map((column) => [column, textOf(row[column])]));
    }
    rowStart = rowEnd;
  }
}

function textOf(value: unknown): string {
  if (typeof value === 'string') return value;
  if (value instanceof Date) return value.toISOString();
  if (typeof value === 'object') return value === null ? '' : JSON.stringify(value);
  return typeof value === 'number' || typeof value === 'bigint' ? String(value) : '';
}
