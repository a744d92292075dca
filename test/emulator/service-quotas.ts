// Service Quotas: how many vCPUs of EC2 an account may have, and requests for more. The emulated launches obey the same numbers.
import { randomUUID } from 'node:crypto';

import { z } from 'zod';

import { AwsError } from './aws-error.ts';
import type { Region } from './state.ts';

/** AWS's codes -> the pool of quotas, and a new account's value. */
const codes: Record<string, { name: string; pool: string; initial: number }> = {
  'L-1216C47A': {
    name: 'Running On-Demand Standard (A, C, D, H, I, M, R, T, Z) instances',
    ...{ pool: 'standard/on-demand', initial: 5 },
  },
  'L-34B43A08': {
    name: 'All Standard (A, C, D, H, I, M, R, T, Z) Spot Instance Requests',
    ...{ pool: 'standard/spot', initial: 5 },
  },
  'L-DB2E81BA': { name: 'Running On-Demand G and VT instances', pool: 'g/on-demand', initial: 0 },
  'L-3819A6DF': { name: 'All G and VT Spot Instance Requests', pool: 'g/spot', initial: 0 },
};

const bodySchema = z.object({
  ServiceCode: z.string(),
  QuotaCode: z.string().default(''),
  DesiredValue: z.number().default(0),
});

export function callServiceQuotas(region: Region, action: string, raw: unknown): object {
  const body = bodySchema.parse(raw);
  if (body.ServiceCode !== 'ec2') throw noSuch();
  if (action === 'ListServiceQuotas') return { Quotas: Object.keys(codes).map((code) => shown(region, code)) };
  if (action === 'GetServiceQuota') return { Quota: shown(region, body.QuotaCode) };
  const requests = region.quotaRequests;
  const ofCode = requests.filter(({ QuotaCode }) => QuotaCode === body.QuotaCode);
  if (action === 'ListRequestedServiceQuotaChangeHistoryByQuota') return { RequestedQuotas: ofCode };
  if (action !== 'RequestServiceQuotaIncrease') throw new AwsError('UnknownOperationException', '');
  if (body.DesiredValue <= shown(region, body.QuotaCode).Value) {
    throw new AwsError(
      'IllegalArgumentException',
      'You must provide a quota value greater than the current quota value.',
    );
  }
  if (ofCode.some(({ Status }) => Status === 'PENDING')) {
    throw new AwsError(
      'ResourceAlreadyExistsException',
      'Only one open service quota increase request is allowed per quota.',
    );
  }
  const { name } = codeOf(body.QuotaCode);
  const request = {
    ...{ Id: randomUUID(), ServiceCode: 'ec2', QuotaCode: body.QuotaCode, QuotaName: name },
    ...{ DesiredValue: body.DesiredValue, Status: 'PENDING' },
  };
  requests.push(request);
  return { RequestedQuota: request };
}

function shown({ quotas, name: region }: Region, code: string) {
  const { name, pool, initial } = codeOf(code);
  return {
    ...{
      ServiceCode: 'ec2',
      ServiceName: 'Amazon Elastic Compute Cloud (Amazon EC2)',
      QuotaCode: code,
      QuotaName: name,
    },
    ...{ QuotaArn: `arn:aws:servicequotas:${region}:123456789012:ec2/${code}`, Unit: 'None', Adjustable: true },
    Value: quotas.get(pool) ?? initial,
  };
}

function codeOf(code: string): { name: string; pool: string; initial: number } {
  const found = codes[code];
  if (found === undefined) throw noSuch();
  return found;
}

const noSuch = (): AwsError =>
  new AwsError('NoSuchResourceException', 'The request failed because the specified quota does not exist.');
