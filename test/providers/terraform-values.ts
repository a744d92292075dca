// The resources of a Terraform module, as far as Ropewalk's expressions need: variables, references, `each`, `count`, `replace`
// and the two forms of for_each. Any other expression is an error.
import { z } from 'zod';

const block = z.record(z.string(), z.unknown());
const resources = z.object({ resource: z.record(z.string(), z.record(z.string(), block)) });

/** The attributes of every instance of a type of resource. */
export type Made = (type: string) => Record<string, unknown>[];
type Values = Readonly<Record<string, unknown>>;

export function evaluated(module: unknown, values: Values): Made {
  const { resource } = resources.parse(module);
  const cell = (type: string, name: string): Record<string, unknown> => resource[type]?.[name] ?? {};

  /** The value of the expression within `${...}`. */
  function expression(text: string, each: Values): unknown {
    const variable = /^var\.(\w+)(?:\[(\d+)\])?$/.exec(text);
    if (variable !== null) {
      const value = values[variable[1] ?? ''];
      return Array.isArray(value) && variable[2] !== undefined ? value[Number(variable[2])] : value;
    }
    const ofEach = /^each\.(key|value)$/.exec(text);
    if (ofEach !== null) return each[ofEach[1] ?? ''];
    if (text === 'replace(var.name, "-", "_")') return String(values['name']).replaceAll('-', '_');
    const reference = /^(google_\w+)\.(\w+)(?:\[0\])?\.(id|name|email)$/.exec(text);
    if (reference === null) throw new Error(`An expression that this test does not know: ${text}`);
    return attribute(reference[1] ?? '', reference[2] ?? '', reference[3] ?? '');
  }

  /** Attributes that Terraform's provider computes have the forms of its documentation. */
  function attribute(type: string, name: string, of: string): unknown {
    const own = filled(cell(type, name), {});
    const text = (key: string): string => z.string().parse(own[key]);
    const at = `projects/${text('project')}`;
    if (type === 'google_compute_network' && of === 'id') return `${at}/global/networks/${text('name')}`;
    if (type === 'google_project_iam_custom_role' && of === 'name') return `${at}/roles/${text('role_id')}`;
    if (type !== 'google_service_account') return own[of];
    const email = `${text('account_id')}@${text('project')}.iam.gserviceaccount.com`;
    return of === 'email' ? email : `${at}/serviceAccounts/${email}`;
  }

  function filled(attributes: Record<string, unknown>, each: Values): Record<string, unknown> {
    const { for_each: _each, count: _count, depends_on: _order, ...rest } = attributes;
    return Object.fromEntries(Object.entries(rest).map(([key, value]) => [key, fill(value, each)]));
  }

  function fill(value: unknown, each: Values): unknown {
    if (Array.isArray(value)) return value.map((one) => fill(one, each));
    if (typeof value === 'object' && value !== null)
      return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, fill(one, each)]));
    if (typeof value !== 'string') return value;
    const whole = /^\$\{([^}]+)\}$/.exec(value);
    if (whole !== null) return expression(whole[1] ?? '', each);
    return value.replaceAll(/\$\{([^}]+)\}/g, (_, text: string) => String(expression(text, each)));
  }

  function instances(attributes: Record<string, unknown>): Record<string, unknown>[] {
    const { for_each: forEach, count } = attributes;
    if (count === '${var.bucket == null ? 0 : 1}') return values['bucket'] === null ? [] : [filled(attributes, {})];
    if (count !== undefined) throw new Error(`A count that this test does not know: ${JSON.stringify(count)}`);
    if (forEach === undefined) return [filled(attributes, {})];
    const text = z.string().parse(forEach);
    const services = /^\$\{toset\(concat\((\[.*?\]), var\.bucket == null \? \[\] : (\[.*?\])\)\)\}$/.exec(text);
    if (services !== null) {
      const more: unknown = values['bucket'] === null ? [] : JSON.parse(services[2] ?? '[]');
      const keys = z.array(z.string()).parse([...JSON.parse(services[1] ?? '[]'), ...z.array(z.string()).parse(more)]);
      return keys.map((key) => filled(attributes, { key, value: key }));
    }
    const range = /^\$\{\{ for at, region in var\.regions : region => "(.*)\$\{at\}(.*)" \}\}$/.exec(text);
    if (range === null) throw new Error(`A for_each that this test does not know: ${text}`);
    const regions = z.array(z.string()).parse(values['regions']);
    return regions.map((key, at) => filled(attributes, { key, value: `${range[1]}${at}${range[2]}` }));
  }

  return (type) => Object.values(resource[type] ?? {}).flatMap(instances);
}
