// Systems Manager's public parameters: where the newest image of Ubuntu is named.
import { createHash } from 'node:crypto';

import { AwsError } from './aws-error.ts';
import type { Region } from './state.ts';

const ubuntu =
  /^\/aws\/service\/canonical\/ubuntu\/server\/(22\.04|24\.04)\/stable\/current\/(amd64|arm64)\/hvm\/ebs-gp[23]\/ami-id$/;

const deepLearning = /^\/aws\/service\/deeplearning\/ami\/x86_64\/[a-z0-9.-]+\/latest\/ami-id$/;

export function callSsm(region: Region, action: string, body: { Name?: unknown; Names?: unknown }): object {
  if (action === 'GetParameter') {
    const found = parameter(region, String(body.Name));
    if (found === null) throw new AwsError('ParameterNotFound', '');
    return { Parameter: found };
  }
  if (action === 'GetParameters') {
    const names = Array.isArray(body.Names) ? body.Names.map(String) : [];
    const found = names.map((name) => ({ name, value: parameter(region, name) }));
    return {
      Parameters: found.flatMap(({ value }) => value ?? []),
      InvalidParameters: found.flatMap(({ name, value }) => (value === null ? [name] : [])),
    };
  }
  throw new AwsError('UnknownOperationException', '');
}

function parameter(
  region: Region,
  name: string,
): { Name: string; Type: string; Value: string; Version: number } | null {
  if (!ubuntu.test(name) && !deepLearning.test(name)) return null;
  const id = createHash('sha256').update(`${region.name} ${name}`).digest('hex').slice(0, 17);
  return { Name: name, Type: 'String', Value: `ami-${id}`, Version: 1 };
}
