// The schemas under their names in the OpenAPI document, and the parts that routes share.
import { z } from '@hono/zod-openapi';

import {
  bundle,
  certificateAnswer,
  certificateRequest,
  daskBundle,
  exchangeAnswerBody,
  exchangeRequest,
  orders,
  registerAnswer,
  registerRequest,
  reportAnswerBody,
  reportRequest,
} from '../../schema/agent.ts';
import {
  adaptCluster,
  cluster,
  clusterPage,
  createCluster,
  createdCluster,
  credentials,
  keepaliveCluster,
  scaleCluster,
} from '../../schema/clusters.ts';
import {
  addFiles,
  fileDownloads,
  fileDownloadsRequest,
  filePage,
  fileUploads,
  fileUploadsRequest,
  storedTaskFiles,
  taskFiles,
} from '../../schema/files.ts';
import { environmentDetails, environmentPage, namedEnvironment, putEnvironment } from '../../schema/environments.ts';
import {
  createdWebhook,
  createWebhook,
  deliveryPage,
  notificationPage,
  webhook,
  webhookList,
} from '../../schema/webhooks.ts';
import { createSchedule, schedule, scheduleDetails, scheduleList } from '../../schema/schedules.ts';
import { errorBody, errorLine } from '../../schema/common.ts';
import { clusterEvent, jobEvent } from '../../schema/events.ts';
import { why } from '../../schema/why.ts';
import {
  buildArchive,
  buildArchiveAnswer,
  buildClaimAnswer,
  buildClaimRequest,
  buildProgress,
  buildProgressAnswer,
} from '../../schema/shared-builds.ts';
import { missingPackageFiles, missingPackageFilesRequest } from '../../schema/software.ts';
import { cancelTasks, createdJob, createJob, job, jobPage, logLine, retryJob, taskPage } from '../../schema/jobs.ts';

export const named = {
  schedule: schedule.openapi('Schedule'),
  scheduleList: scheduleList.openapi('ScheduleList'),
  scheduleDetails: scheduleDetails.openapi('ScheduleDetails'),
  createSchedule: createSchedule.openapi('CreateSchedule'),
  webhook: webhook.openapi('Webhook'),
  webhookList: webhookList.openapi('WebhookList'),
  createWebhook: createWebhook.openapi('CreateWebhook'),
  createdWebhook: createdWebhook.openapi('CreatedWebhook'),
  deliveryPage: deliveryPage.openapi('DeliveryPage'),
  notificationPage: notificationPage.openapi('NotificationPage'),
  job: job.openapi('Job'),
  jobPage: jobPage.openapi('JobPage'),
  taskPage: taskPage.openapi('TaskPage'),
  createJob: createJob.openapi('CreateJob'),
  cancelTasks: cancelTasks.openapi('CancelTasks'),
  retryJob: retryJob.openapi('RetryJob'),
  createdJob: createdJob.openapi('CreatedJob'),
  logLine: logLine.openapi('LogLine'),
  jobEvent: jobEvent.openapi('JobEvent'),
  why: why.openapi('Why'),
  cluster: cluster.openapi('Cluster'),
  clusterPage: clusterPage.openapi('ClusterPage'),
  clusterEvent: clusterEvent.openapi('ClusterEvent'),
  createCluster: createCluster.openapi('CreateCluster'),
  createdCluster: createdCluster.openapi('CreatedCluster'),
  scaleCluster: scaleCluster.openapi('ScaleCluster'),
  adaptCluster: adaptCluster.openapi('AdaptCluster'),
  keepaliveCluster: keepaliveCluster.openapi('KeepaliveCluster'),
  credentials: credentials.openapi('Credentials'),
  missingPackageFilesRequest: missingPackageFilesRequest.openapi('MissingPackageFilesRequest'),
  missingPackageFiles: missingPackageFiles.openapi('MissingPackageFiles'),
  buildClaimRequest: buildClaimRequest.openapi('BuildClaimRequest'),
  buildClaimAnswer: buildClaimAnswer.openapi('BuildClaimAnswer'),
  buildProgress: buildProgress.openapi('BuildProgress'),
  buildProgressAnswer: buildProgressAnswer.openapi('BuildProgressAnswer'),
  buildArchive: buildArchive.openapi('BuildArchive'),
  buildArchiveAnswer: buildArchiveAnswer.openapi('BuildArchiveAnswer'),
  fileUploadsRequest: fileUploadsRequest.openapi('FileUploadsRequest'),
  fileUploads: fileUploads.openapi('FileUploads'),
  fileDownloadsRequest: fileDownloadsRequest.openapi('FileDownloadsRequest'),
  fileDownloads: fileDownloads.openapi('FileDownloads'),
  filePage: filePage.openapi('FilePage'),
  addFiles: addFiles.openapi('AddFiles'),
  taskFiles: taskFiles.openapi('TaskFiles'),
  storedTaskFiles: storedTaskFiles.openapi('StoredTaskFiles'),
  putEnvironment: putEnvironment.openapi('PutEnvironment'),
  namedEnvironment: namedEnvironment.openapi('NamedEnvironment'),
  environmentDetails: environmentDetails.openapi('EnvironmentDetails'),
  environmentPage: environmentPage.openapi('EnvironmentPage'),
  error: errorBody.openapi('Error'),
  errorLine: errorLine.openapi('ErrorLine'),
  registerRequest: registerRequest.openapi('RegisterRequest'),
  registerAnswer: registerAnswer.openapi('RegisterAnswer'),
  reportRequest: reportRequest.openapi('ReportRequest'),
  reportAnswer: reportAnswerBody.openapi('ReportAnswer'),
  exchangeRequest: exchangeRequest.openapi('ExchangeRequest'),
  exchangeAnswer: exchangeAnswerBody.openapi('ExchangeAnswer'),
  orders: orders.openapi('Orders'),
  certificateRequest: certificateRequest.openapi('CertificateRequest'),
  certificateAnswer: certificateAnswer.openapi('CertificateAnswer'),
  bundle: z.union([bundle.openapi('Bundle'), daskBundle.openapi('DaskBundle')]),
};

/** For requests that create an object. */
export const idempotencyHeader = z.object({
  'idempotency-key': z
    .string()
    .regex(/^[\x21-\x7e]{1,200}$/, 'printable ASCII without blanks, at most 200 characters')
    .optional()
    .openapi({
      description: 'A repeated request with the same key within 24 hours returns the result of the first one.',
    }),
});

const partState = z.enum(['ok', 'unavailable']);
export const health = z.object({ status: partState }).openapi('Health');
export const readiness = z
  .object({
    status: z.enum(['ok', 'degraded', 'unavailable']),
    parts: z.object({ temporal: partState, database: partState, keys: partState, objects: partState }),
  })
  .openapi('Readiness');

export const json = <S extends z.ZodType>(schema: S, description: string) => ({
  description,
  content: { 'application/json': { schema } },
});

export const jsonBody = <S extends z.ZodType>(schema: S) => ({
  required: true,
  content: { 'application/json': { schema } },
});

// Typed as any text, because the router treats every type that ends in "json" as one JSON value.
export const ndjsonType: string = 'application/x-ndjson';

/** A response that breaks off states the reason in its last line, and its connection is cut too. */
export const ndjson = <S extends z.ZodType>(schema: S, description: string) => ({
  description: `${description} An answer that breaks off has an ErrorLine as its last, where that could be said.`,
  content: { [ndjsonType]: { schema: z.union([schema, named.errorLine]) } },
});

export const fileType = 'application/octet-stream';
const fileContent = { [fileType]: { schema: z.any().openapi({ type: 'string', format: 'binary' }) } };

export const file = (description: string) => ({ description, content: fileContent });
export const fileBody = { required: true, content: fileContent };

/** Every route may return the error response. */
export const problems = { default: json(named.error, 'The error body.') };

export const tokenSecurity = [{ token: [] }];
export const launchSecurity = [{ launchToken: [] }];
export const instanceSecurity = [{ instanceToken: [] }];
