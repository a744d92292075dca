// EC2's vCPU quotas of an account.
import { GetServiceQuotaCommand, ServiceQuotasClient } from '@aws-sdk/client-service-quotas';

import { RopewalkError } from '../../domain/errors.ts';
import type { CheckWarning } from '../manifest.ts';
import { codeOf, messageOf } from './sdk-errors.ts';

/** Quota codes: https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/ec2-instance-quotas.html */
export const vcpuQuotas = [
  { code: 'L-1216C47A', name: 'standard families, on demand', isGpu: false },
  { code: 'L-34B43A08', name: 'standard families, spot', isGpu: false },
  { code: 'L-DB2E81BA', name: 'G and VT families (GPU), on demand', isGpu: true },
  { code: 'L-3819A6DF', name: 'G and VT families (GPU), spot', isGpu: true },
] as const;

/** vCPUs of a head instance and one worker of the default size. */
const smallestCluster = 8;

/**
 * Describes the quotas of the control plane's own account.
 *
 * @throws RopewalkError UNAVAILABLE
 */
export async function describeQuotas(region: string, signal: AbortSignal): Promise<string | CheckWarning> {
  const client = new ServiceQuotasClient({ region, maxAttempts: 4 });
  try {
    const read = async ({ code }: (typeof vcpuQuotas)[number]): Promise<number> => {
      const command = new GetServiceQuotaCommand({ ServiceCode: 'ec2', QuotaCode: code });
      const { Quota } = await client.send(command, { abortSignal: signal });
      return Quota?.Value ?? 0;
    };
    const values = await Promise.all(vcpuQuotas.map(read));
    const [onDemand = 0] = values;
    const text = `vCPUs at the same time: ${vcpuQuotas.map(({ name }, at) => `${name} ${values[at]}`).join('; ')}`;
    if (onDemand >= smallestCluster) return text;
    const request = `ropewalk setup aws --region ${region} --quotas --request 256`;
    return {
      text,
      hint: `A cluster of one worker has ${smallestCluster} unless it asks for less. Ask AWS for more: ${request}`,
    };
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
