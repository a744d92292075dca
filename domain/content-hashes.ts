/** All SHA-256 in a text, also those that name no file: too many only keep a file. Longer hexadecimal text contains none. */
export const contentHashesIn = (text: string): string[] => text.match(/(?<![0-9a-f])[0-9a-f]{64}(?![0-9a-f])/g) ?? [];
