// Costs as CSV, the same on the command line and in the web application.

interface Line {
  key: string;
  name: string | null;
  instances: number;
  instanceHours: number;
  dollars: number;
  dollarsPerHour: number;
}

/** RFC 4180 without a line break at the end. A field that a spreadsheet would interpret as a formula begins with an apostrophe. */
export function costsCsv({ by, items }: { by: string; items: readonly Line[] }): string {
  const head = [by, 'name', 'instances', 'instance_hours', 'dollars', 'dollars_per_hour_now'];
  const rows = items.map(({ key, name, instances, instanceHours, dollars, dollarsPerHour }) => [
    field(key),
    field(name ?? ''),
    ...[instances, instanceHours, dollars, dollarsPerHour].map(String),
  ]);
  return [head, ...rows].map((row) => row.join(',')).join('\n');
}

function field(text: string): string {
  const safe = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return /[",\n\r]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
