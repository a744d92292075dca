// Builds the bundles that production runs besides the sources: dist/agent.mjs and dist/workflows.cjs. Run by `npm run build`,
// also during an image build.
import { mkdir, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { bundleWorkflowCode, DefaultLogger } from '@temporalio/worker';

import { buildAgent } from '../agent/build.ts';

const repository = fileURLToPath(new URL('..', import.meta.url));

/** Writes files atomically, because a Temporal worker may start at this moment. */
export async function buildProduction(outDir: string): Promise<{ agent: string; workflows: string }> {
  const agent = join(outDir, 'agent.mjs');
  const workflows = join(outDir, 'workflows.cjs');
  await mkdir(outDir, { recursive: true });
  await buildAgent(agent);
  await bundleWorkflows(`${workflows}.${process.pid}.tmp`);
  await rename(`${workflows}.${process.pid}.tmp`, workflows);
  return { agent, workflows };
}

/** Every bundle includes the interceptor that keeps the order of commands; without it, current histories do not replay. */
export async function bundleWorkflows(outFile: string): Promise<void> {
  const { code } = await bundleWorkflowCode({
    workflowsPath: join(repository, 'workflows', 'index.ts'),
    workflowInterceptorModules: [join(repository, 'workflows', 'updates-last.ts')],
    logger: new DefaultLogger('WARN'),
  });
  await writeFile(outFile, code);
}

if (import.meta.main) {
  const { agent, workflows } = await buildProduction(join(repository, 'dist'));
  process.stdout.write(`${agent}\n${workflows}\n`);
}
