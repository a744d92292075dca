// The schemas under the names that they have in the OpenAPI document, and the parts that routes share.
import { z } from '@hono/zod-openapi';

import {
  bundle,
  exchangeAnswerBody,
  exchangeRequest,
  registerAnswer,
  registerRequest,
  reportAnswerBody,
  reportRequest,
} from '../../schema/agent.ts';
import { cluster, clusterPage } from '../../schema/clusters.ts';
import { errorBody } from '../../schema/common.ts';
import { createdJob, createJob, job, jobPage, logLine, taskPage } from '../../schema/jobs.ts';

export const named = {
  job: job.openapi('Job'),
  jobPage: jobPage.openapi('JobPage'),
  taskPage: taskPage.openapi('TaskPage'),
  createJob: createJob.openapi('CreateJob'),
  createdJob: createdJob.openapi('CreatedJob'),
  logLine: logLine.openapi('LogLine'),
  cluster: cluster.openapi('Cluster'),
  clusterPage: clusterPage.openapi('ClusterPage'),
  error: errorBody.openapi('Error'),
  registerRequest: registerRequest.openapi('RegisterRequest'),
  registerAnswer: registerAnswer.openapi('RegisterAnswer'),
  reportRequest: reportRequest.openapi('ReportRequest'),
  reportAnswer: reportAnswerBody.openapi('ReportAnswer'),
  exchangeRequest: exchangeRequest.openapi('ExchangeRequest'),
  exchangeAnswer: exchangeAnswerBody.openapi('ExchangeAnswer'),
  bundle: bundle.openapi('Bundle'),
};

export const health = z.object({ status: z.enum(['ok', 'unavailable']) }).openapi('Health');

export const json = <S extends z.ZodType>(schema: S, description: string) => ({
  description,
  content: { 'application/json': { schema } },
});

export const jsonBody = <S extends z.ZodType>(schema: S) => ({
  required: true,
  content: { 'application/json': { schema } },
});

/** Every route can end in the one error body. */
export const problems = { default: json(named.error, 'What went wrong: the one error body.') };

export const tokenSecurity = [{ token: [] }];
export const launchSecurity = [{ launchToken: [] }];
export const instanceSecurity = [{ instanceToken: [] }];
