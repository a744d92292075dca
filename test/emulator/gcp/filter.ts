// The supported filters of Google's lists: `field = "value"` and `field eq regex`, each in parentheses, joined by AND.
import { invalid } from './gcp-error.ts';

/** @throws GcpError for a filter that the emulator, or Google, does not understand. */
export function parseFilter(text: string): (resource: object) => boolean {
  if (text === '') return () => true;
  const parts = text.split(/\s+AND\s+/);
  const tests = parts.map((part) => {
    const [, field, operator, raw] = /^\(?\s*([A-Za-z.-][\w.-]*)\s*(=|eq)\s*(.+?)\s*\)?$/.exec(part) ?? [];
    if (field === undefined || raw === undefined) throw invalid(`Invalid value for field 'filter': '${text}'.`);
    const value = raw.replace(/^(["'])(.*)\1$/, '$2');
    // Google accepts one regular expression, and no mixture with `=`.
    if (operator === 'eq' && parts.length > 1) throw invalid(`Invalid list filter expression: ${text}`);
    const expression = operator === 'eq' ? new RegExp(`^(?:${value})$`) : null;
    return (resource: object): boolean => {
      const found = read(resource, field);
      if (typeof found !== 'string') return false;
      return expression === null ? found === value : expression.test(found);
    };
  });
  return (resource) => tests.every((test) => test(resource));
}

function read(resource: object, field: string): unknown {
  const [first = '', ...rest] = field.split('.');
  const value: unknown = Object.entries(resource).find(([key]) => key === first)?.[1];
  if (rest.length === 0) return value;
  return typeof value === 'object' && value !== null ? read(value, rest.join('.')) : undefined;
}
