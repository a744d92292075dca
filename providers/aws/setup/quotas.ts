// EC2's vCPU quotas of an account, for standard and GPU families.
import {
  GetServiceQuotaCommand,
  ListRequestedServiceQuotaChangeHistoryByQuotaCommand,
  RequestServiceQuotaIncreaseCommand,
  ServiceQuotasClient,
} from '@aws-sdk/client-service-quotas';

import type { QuotaReport } from '../../manifest.ts';
import { vcpuQuotas } from '../quotas.ts';
import { explained } from './calls.ts';

const open = ['PENDING', 'CASE_OPENED'];

/** `request`: vCPUs to request where a standard-family quota is lower and no request is open. GPU quotas are only reported. */
export async function readQuotas(region: string, request: number | null): Promise<QuotaReport[]> {
  const client = new ServiceQuotasClient({ region, maxAttempts: 4 });
  try {
    const reports: QuotaReport[] = [];
    for (const { code, name, isGpu } of vcpuQuotas) {
      const quota = { ServiceCode: 'ec2', QuotaCode: code };
      const { Quota } = await client.send(new GetServiceQuotaCommand(quota));
      const value = Quota?.Value ?? 0;
      const history = await client.send(new ListRequestedServiceQuotaChangeHistoryByQuotaCommand(quota));
      const waiting = (history.RequestedQuotas ?? []).find(({ Status = '' }) => open.includes(Status));
      const isAsked = request !== null && !isGpu && request > value && waiting === undefined;
      if (isAsked) await client.send(new RequestServiceQuotaIncreaseCommand({ ...quota, DesiredValue: request }));
      const pending = isAsked ? request : (waiting?.DesiredValue ?? null);
      reports.push({ region, name, code, value, unit: 'vCPU', pending, requested: isAsked });
    }
    return reports;
  } catch (error) {
    throw explained(`quotas in ${region}`, error);
  } finally {
    client.destroy();
  }
}
