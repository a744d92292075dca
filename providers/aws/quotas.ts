// How many vCPUs instances of an account may have at the same time, by EC2's quotas.
import { GetServiceQuotaCommand, ServiceQuotasClient } from '@aws-sdk/client-service-quotas';

import { RopewalkError } from '../../domain/errors.ts';
import { codeOf, messageOf } from './sdk-errors.ts';

/** Codes of AWS: https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/ec2-instance-quotas.html */
export const vcpuQuotas = [
  { code: 'L-1216C47A', name: 'standard families, on demand', isGpu: false },
  { code: 'L-34B43A08', name: 'standard families, spot', isGpu: false },
  { code: 'L-DB2E81BA', name: 'G and VT families (GPU), on demand', isGpu: true },
  { code: 'L-3819A6DF', name: 'G and VT families (GPU), spot', isGpu: true },
] as const;

/**
 * In words. The quotas of the control plane's own account.
 *
 * @throws RopewalkError UNAVAILABLE
 */
export async function describeQuotas(region: string, signal: AbortSignal): Promise<string> {
  const client = new ServiceQuotasClient({ region, maxAttempts: 4 });
  try {
    const read = async ({ code, name }: (typeof vcpuQuotas)[number]): Promise<string> => {
      const command = new GetServiceQuotaCommand({ ServiceCode: 'ec2', QuotaCode: code });
      const { Quota } = await client.send(command, { abortSignal: signal });
      return `${name} ${Quota?.Value ?? 0}`;
    };
    return `vCPUs at the same time: ${(await Promise.all(vcpuQuotas.map(read))).join('; ')}`;
  } catch (cause) {
    throw new RopewalkError(
      {
        code: 'UNAVAILABLE',
        message: `The quotas of EC2 in ${region} cannot be read: ${codeOf(cause)}: ${messageOf(cause)}`,
        hint: 'The policy of the control plane needs servicequotas:GetServiceQuota (ops/aws/control-plane.json).',
      },
      { cause },
    );
  } finally {
    client.destroy();
  }
}
