// Text of people on its way into the database.

/** PostgreSQL refuses NUL in text. */
export const storable = (text: string): string => text.replaceAll('\0', '\u{fffd}');

/** Upper and lower case are equal in a search. In JS: the lower() of SQLite knows ASCII only. */
export const searchable = (text: string): string => storable(text).normalize('NFC').toLowerCase();
