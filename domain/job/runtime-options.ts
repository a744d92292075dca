// Options from a script's header or from the request for where commands run: in a container, or directly on the instance.
import type { BatchHeader } from '../batch-header.ts';
import { RopewalkError } from '../errors.ts';
import { parseFlag } from './header-values.ts';

/** Starts with a letter or a digit, so a container engine cannot read it as an option. */
export const imageSyntax = /^[A-Za-z0-9][A-Za-z0-9._/:@-]{0,499}$/;

/** The options' command-line names. */
export const runtimeOptions: ReadonlySet<string> = new Set([
  'container',
  'ignore-container-entrypoint',
  'run-on-host',
  'software',
]);

export interface RuntimeOptions {
  /** Image of the request. */
  container?: string;
  /** Image of the header; any software or container of the request overrides it. */
  headerContainer?: string;
  /** Named environment; the same two sources. */
  software?: string;
  headerSoftware?: string;
  ignoreEntrypoint?: boolean;
  runOnHost?: boolean;
}

/** @throws RopewalkError VALIDATION naming the option. */
export function readRuntimeOptions(header: BatchHeader, sent: Readonly<Record<string, string>>): RuntimeOptions {
  const options: RuntimeOptions = {};
  for (const { name, value } of header.options) {
    if (name === 'container') options.headerContainer = image(value);
    else if (name === 'software') options.headerSoftware = value;
    else read(options, name, value);
  }
  for (const [name, value] of Object.entries(sent)) {
    if (name === 'container') options.container = image(value);
    else if (name === 'software') options.software = value;
    else read(options, name, value);
  }
  return options;
}

function read(options: RuntimeOptions, name: string, value: string): void {
  if (name === 'ignore-container-entrypoint') options.ignoreEntrypoint = flag(name, value);
  if (name === 'run-on-host') options.runOnHost = flag(name, value);
}

function image(value: string): string {
  if (imageSyntax.test(value)) return value;
  throw invalid('container', `${JSON.stringify(value)} is not the name of an image, as in ubuntu:24.04`);
}

function flag(name: string, value: string): boolean {
  const said = parseFlag(value);
  if (said !== null) return said;
  throw invalid(name, `${JSON.stringify(value)} is neither true nor false`);
}

const invalid = (name: string, what: string): RopewalkError =>
  new RopewalkError({ code: 'VALIDATION', field: `options.${name}`, message: `${name}: ${what}.` });
