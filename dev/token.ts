// The user's config.yaml: where the API is, and a token that works. A token is made once, when there is none that does;
// its secret is written to that file alone (0600) and never printed.
import { createHash, randomBytes, randomInt } from 'node:crypto';
import { userInfo } from 'node:os';

import type { Client } from '@temporalio/client';
import { parse, stringify } from 'yaml';

import { type UserConfig, userConfig } from '../schema/user-config.ts';
import { writeWhole } from '../providers/local/files.ts';
import { type IssueTokenItem, workspaceMessages, workspaceWorkflowId } from '../workflows/workspace/messages.ts';
import { readTextOrNull } from '../ops/files.ts';
import { updateOne } from './first-run.ts';

/** True when config.yaml had to be written. */
export async function ensureToken(
  client: Client,
  options: { configFile: string; apiUrl: string; workspace: string; signal: AbortSignal },
): Promise<boolean> {
  const { configFile, apiUrl, workspace, signal } = options;
  const before = await readUserConfig(configFile);
  const works = before.token !== undefined && (await isAccepted(apiUrl, before.token));
  if (works && before.apiUrl === apiUrl) return false;
  const token = works && before.token !== undefined ? before.token : await issueToken(client, workspace, signal);
  await writeWhole(configFile, stringify({ ...before, apiUrl, token, workspace }));
  return true;
}

export async function issueToken(client: Client, workspace: string, signal: AbortSignal): Promise<string> {
  const id = Array.from({ length: 12 }, () => letters[randomInt(letters.length)]).join('');
  const secret = randomBytes(32).toString('base64url');
  const item: IssueTokenItem = {
    id,
    sha256: createHash('sha256').update(secret).digest('hex'),
    user: userInfo().username,
    name: 'ropewalk dev',
    // Whoever starts the stack runs it: an admin of its workspace, and the operator of the deployment.
    scopes: ['read', 'write', 'admin', 'operator'],
    expiresAtMs: null,
  };
  await updateOne(client, workspaceWorkflowId(workspace), workspaceMessages.issueToken, item, signal);
  return `rw_${workspace}_${id}-${secret}`;
}

const letters = 'abcdefghijklmnopqrstuvwxyz0123456789';

async function readUserConfig(path: string): Promise<UserConfig> {
  const text = await readTextOrNull(path);
  if (text === null) return {};
  const result = userConfig.safeParse(parse(text) ?? {});
  if (!result.success)
    throw new Error(`${path} is not a valid configuration: mend it, or move it away`, { cause: result.error });
  return result.data;
}

/** Only a clear refusal is a reason to make another token: anything else is an error of ours, and is thrown. */
async function isAccepted(apiUrl: string, token: string): Promise<boolean> {
  const answer = await fetch(`${apiUrl}/v1/jobs?limit=1`, {
    headers: { authorization: `Bearer ${token}` },
    signal: AbortSignal.timeout(15_000),
  });
  await answer.body?.cancel();
  if (answer.ok) return true;
  if (answer.status === 401 || answer.status === 403) return false;
  throw new Error(`the API answered ${answer.status} when asked whether the token in config.yaml works`);
}
