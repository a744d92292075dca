// Selects the Temporal server of an operator's command: that of TEMPORAL_ADDRESS or of a profile in Temporal's own
// configuration, else that of the stack running in this home.
import { join } from 'node:path';

import { Client, Connection, NamespaceNotFoundError } from '@temporalio/client';
import { loadClientConnectConfig } from '@temporalio/envconfig';
import { z } from 'zod';

import { readJson } from './files.ts';
import { RopewalkError } from '../domain/errors.ts';
import { largeMessages } from '../platform/large-messages.ts';
import { namespaceOf, temporalVariables } from '../platform/temporal-namespace.ts';
import { isServing } from './init/namespace.ts';

export interface TemporalTarget {
  address: string;
  namespace: string;
  connection: Connection;
  client: Client;
}

export interface TemporalOptions {
  env: Record<string, string | undefined>;
  home: string;
  /** Overrides the environment. */
  namespace?: string | undefined;
}

/** Calls `use` once the server has answered; closes the connection afterwards. */
export async function withTemporal<T>(
  options: TemporalOptions,
  use: (target: TemporalTarget) => Promise<T>,
): Promise<T> {
  const { address, namespace, connection } = await findServer(options);
  try {
    if (!(await isServing(connection))) throw notAnswering(address);
    return await use({ address, namespace, connection, client: new Client({ connection, namespace }) });
  } catch (error) {
    throw isNamespaceMissing(error) ? absentNamespace(namespace, address, error) : error;
  } finally {
    await connection.close();
  }
}

/** The list of schedules passes the server's own error on, with the code NOT_FOUND. */
const isNamespaceMissing = (error: unknown): boolean =>
  error instanceof NamespaceNotFoundError ||
  (error instanceof Error && /^5 NOT_FOUND: Namespace .* is not found/.test(error.message)) ||
  (error instanceof Error && error.cause !== undefined && isNamespaceMissing(error.cause));

const absentNamespace = (namespace: string, address: string, cause: unknown): RopewalkError =>
  new RopewalkError(
    {
      code: 'NOT_FOUND',
      message: `the Temporal server at ${address} has no namespace ${namespace}`,
      hint: 'Run "ropewalk init" for it, or name the right one with TEMPORAL_NAMESPACE or --namespace.',
    },
    { cause },
  );

const stackFile = z.object({ temporalAddress: z.string(), namespace: z.string() });

async function findServer({ env, home, namespace }: TemporalOptions): Promise<Omit<TemporalTarget, 'client'>> {
  const named = loadClientConnectConfig({ overrideEnvVars: temporalVariables(env) });
  const { address } = named.connectionOptions;
  if (address !== undefined) {
    return {
      address,
      namespace: namespace ?? namespaceOf(named.namespace),
      connection: Connection.lazy({ ...named.connectionOptions, ...largeMessages, address }),
    };
  }
  const stack = await readJson(join(home, 'run', 'stack.json'), stackFile);
  if (stack === null) throw nothingNamed(home);
  return {
    address: stack.temporalAddress,
    namespace: namespace ?? stack.namespace,
    connection: Connection.lazy({ ...largeMessages, address: stack.temporalAddress }),
  };
}

const notAnswering = (address: string): RopewalkError =>
  new RopewalkError({
    code: 'UNAVAILABLE',
    message: `the Temporal server at ${address} does not answer`,
    hint: 'Start it, or name another one with TEMPORAL_ADDRESS (with TLS or an API key: a Temporal configuration profile).',
  });

const nothingNamed = (home: string): RopewalkError =>
  new RopewalkError({
    code: 'VALIDATION',
    message: `no Temporal server is named, and no stack runs in ${home}`,
    hint: 'Set TEMPORAL_ADDRESS, or start the stack of this machine with "ropewalk dev".',
  });
