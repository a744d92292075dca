// The valid bodies of calls to Service Usage, Resource Manager and IAM: Google refuses an unknown field, and a value out of the
// bounds of its reference (discovery documents and REST reference of IAM, 2026-11).
import { z } from 'zod';

import { GcpError } from './gcp-error.ts';

/** A method without a request body refuses every field. */
const none = z.strictObject({}).nullable();
const member = z
  .string()
  .regex(/^(allUsers|allAuthenticatedUsers|(user|group|serviceAccount|domain|principal|principalSet):.+)$/);
const policy = z.strictObject({
  version: z.number().int().optional(),
  etag: z.string().optional(),
  bindings: z
    .array(z.strictObject({ role: z.string(), members: z.array(member), condition: z.object({}).optional() }))
    .optional(),
  auditConfigs: z.array(z.object({})).optional(),
});
const setPolicy = z.strictObject({ policy, updateMask: z.string().optional() });
const role = z.strictObject({
  title: z.string().max(100).optional(),
  description: z.string().max(300).optional(),
  stage: z.enum(['ALPHA', 'BETA', 'GA', 'DEPRECATED', 'DISABLED', 'EAP']).optional(),
  includedPermissions: z.array(z.string()).optional(),
  etag: z.string().optional(),
  name: z.string().optional(),
  deleted: z.boolean().optional(),
});

const bodies: Readonly<Record<string, z.ZodType>> = {
  'project.getIamPolicy': z
    .strictObject({ options: z.strictObject({ requestedPolicyVersion: z.number().int() }).optional() })
    .nullable(),
  'project.setIamPolicy': setPolicy,
  'serviceAccounts.setIamPolicy': setPolicy,
  'serviceAccounts.testIamPermissions': z.strictObject({ permissions: z.array(z.string()).min(1) }),
  'serviceAccounts.create': z.strictObject({
    accountId: z.string(),
    serviceAccount: z
      .strictObject({ displayName: z.string().max(100).optional(), description: z.string().max(256).optional() })
      .optional(),
  }),
  'roles.create': z.strictObject({ roleId: z.string(), role: role.optional() }),
  'roles.patch': role,
  'roles.undelete': z.strictObject({ etag: z.string().optional() }).nullable(),
};

/** @throws GcpError 400 */
export function checkProjectBody(name: string, body: unknown): void {
  const result = (bodies[name] ?? none).safeParse(body);
  if (result.success) return;
  const [issue] = result.error.issues;
  const message =
    issue?.code === 'unrecognized_keys'
      ? `Invalid JSON payload received. Unknown name "${issue.keys[0]}": Cannot find field.`
      : z.prettifyError(result.error);
  throw new GcpError(400, 'INVALID_ARGUMENT', message);
}

/** In the form that the method has in its URL. */
const parameters: Readonly<Record<string, RegExp>> = {
  'serviceAccounts.getIamPolicy': /^options\.requestedPolicyVersion$/,
  'services.batchGet': /^names$/,
  'roles.patch': /^updateMask$/,
  'roles.delete': /^etag$/,
};

/** @throws GcpError 400 */
export function checkProjectQuery(name: string, query: URLSearchParams): void {
  const wrong = [...query.keys()].find((key) => parameters[name]?.test(key) !== true);
  if (wrong === undefined) return;
  const message = `Invalid JSON payload received. Unknown name "${wrong}": Cannot bind query parameter. Field '${wrong}' could not be found in request message.`;
  throw new GcpError(400, 'INVALID_ARGUMENT', message);
}
