// Hostile text of users: for shells, terminals, templates, parsers and file systems.
import fc from 'fast-check';

export const hostileStrings: readonly string[] = [
  '',
  ' ',
  '"',
  "'",
  '`id`',
  '$(touch /tmp/ropewalk-was-here)',
  '${IFS}cat${IFS}/etc/passwd',
  '; rm -rf /',
  '| nc 127.0.0.1 1',
  '&& true || false',
  '> /dev/null 2>&1',
  '!!',
  '~root',
  '*',
  '--help',
  '-c',
  '--',
  '\\',
  '\\\\server\\share',
  'a\nb',
  'a\r\nX-Injected: 1',
  'tab\there',
  '\u001b[31mred\u001b[0m',
  '\u001b]0;title\u0007',
  '\u001b]8;;http://127.0.0.1/\u0007link\u001b]8;;\u0007',
  '\u009b31m',
  '\u0007\u0008\u007f',
  '\u202etxt.exe',
  '\u200b\u200d\ufeff',
  'e\u0301',
  '\u{1f9f6}',
  '\ud83d',
  '\udc00',
  '{{7*7}}',
  '<script>alert(1)</script>',
  '<img src=x onerror=alert(1)>',
  "' OR '1'='1",
  '%s%n%x',
  '%00',
  '%2e%2e%2f',
  '../../etc/passwd',
  '/etc/passwd',
  '#cloud-config\nruncmd: [id]',
  '!!python/object/apply:os.system ["id"]',
  'null',
  'true',
  '1e309',
  'NaN',
  '__proto__',
  'constructor',
  'toString',
  '{"a":1}',
  '[]',
  '-----BEGIN PRIVATE KEY-----',
  'x'.repeat(10_000),
];

/** The same, and random bytes, controls and all of Unicode. */
export const anyHostile = fc.oneof(
  fc.constantFrom(...hostileStrings),
  fc.string({ unit: 'binary', maxLength: 200 }),
  fc.string({ unit: 'grapheme', maxLength: 200 }),
  fc
    .array(
      fc.constantFrom('\u001b', '[', ']', '\u0007', '$', '(', '`', '"', "'", '\n', '\\', ';', 'a', '\u009b', '\u0000'),
    )
    .map((parts) => parts.join('')),
);

export const withoutNul = (text: string): string => text.replaceAll('\0', '');
