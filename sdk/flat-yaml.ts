// Reads one top-level string of a small YAML file. The SDK has no dependencies, and config.yaml is a map of strings.

/**
 * The value of `key`; undefined when the file does not have the key; null when the value is not a string on one line. Other
 * keys may have values of any kind.
 */
export function readScalar(text: string, key: string): string | null | undefined {
  const lines = text.replace(/^\uFEFF/, '').split(/\r\n|\n|\r/);
  const index = lines.findIndex((line) => new RegExp(`^(["']?)${key}\\1\\s*:(\\s|$)`).test(line));
  const line = lines[index];
  if (line === undefined) return undefined;
  const value = parseScalar(line.slice(line.indexOf(':') + 1).trim());
  // An indented line continues the value, or is a nested one.
  return /^[ \t]+[^\s#]/.test(lines[index + 1] ?? '') ? null : value;
}

function parseScalar(value: string): string | null {
  const single = /^'((?:[^']|'')*)'(?:\s+#.*)?$/.exec(value);
  if (single !== null) return (single[1] ?? '').replaceAll("''", "'");
  const double = /^("(?:[^"\\]|\\.)*")(?:\s+#.*)?$/.exec(value);
  if (double !== null) return parseDouble(double[1] ?? '');
  const plain = value.replace(/(^|\s+)#.*$/, '');
  // An empty value is null in YAML; the others are indicators, or words that YAML does not read as strings.
  return /^[-?:,[\]{}&*!|>'"%@`]|^(~|null|true|false|[-+]?[0-9][0-9_]*(\.[0-9]*)?(e[-+]?[0-9]+)?)?$|:\s/i.test(plain)
    ? null
    : plain;
}

/** The escapes of JSON are the ones that YAML writers use for strings on one line. */
function parseDouble(quoted: string): string | null {
  try {
    const value: unknown = JSON.parse(quoted);
    return typeof value === 'string' ? value : null;
  } catch {
    return null;
  }
}
