// Systems Manager's public parameters, which name the newest image of Ubuntu.
import { AwsError } from './aws-error.ts';
import { imageNamed, isImageParameter } from './images.ts';
import type { Region } from './state.ts';

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
  if (!isImageParameter(name)) return null;
  return { Name: name, Type: 'String', Value: imageNamed(region.name, name), Version: 1 };
}
