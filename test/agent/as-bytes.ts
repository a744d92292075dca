/** The body of an answer in JSON. */
export const asBytes = (value: unknown): Uint8Array => Buffer.from(JSON.stringify(value));
