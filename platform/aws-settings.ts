// The file that says what of an AWS account Ropewalk may use: named by ROPEWALK_AWS_SETTINGS, JSON, read when a process
// starts. It holds no secret: credentials come from where the AWS SDK finds them.
import { readFileSync } from 'node:fs';

import { z } from 'zod';

const download = z.strictObject({ url: z.url(), sha256: z.string().regex(/^[0-9a-f]{64}$/, 'must be 64 hex digits') });

const file = z.strictObject({
  region: z.string().min(1),
  /** One per zone. */
  subnets: z.array(z.strictObject({ id: z.string().startsWith('subnet-'), zone: z.string().min(1) })).min(1),
  securityGroups: z.strictObject({
    cluster: z.string().startsWith('sg-'),
    scheduler: z.array(z.string().startsWith('sg-')).max(4).default([]),
  }),
  instanceProfile: z.string().min(1).nullable().default(null),
  assignPublicIps: z.boolean().default(true),
  /** Where instances get Node, by architecture. */
  node: z.strictObject({ x86_64: download, arm64: download }),
  /** For curl's --pinnedpubkey, when the API's certificate is not one that the system trusts. */
  pinnedPublicKey: z.string().startsWith('sha256//').nullable().default(null),
});
export type AwsFile = z.infer<typeof file>;

/**
 * The settings in the file at `path`.
 *
 * @throws Error that names the file and every problem in it.
 */
export function readAwsSettings(path: string): AwsFile {
  try {
    return file.parse(JSON.parse(readFileSync(path, 'utf8')));
  } catch (error) {
    const what = error instanceof z.ZodError ? z.prettifyError(error) : String(error);
    throw new Error(`The AWS settings in ${path} cannot be used:\n${what}\ndocs/aws.md describes them.`, {
      cause: error,
    });
  }
}
