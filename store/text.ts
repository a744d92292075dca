// User-supplied text for the database.

/** PostgreSQL refuses NUL in text. */
export const storable = (text: string): string => text.replaceAll('\0', '\u{fffd}');

/** Makes a search case-insensitive. Done in JS because SQLite's lower() handles ASCII only. */
export const searchable = (text: string): string => storable(text).normalize('NFC').toLowerCase();
