// `npm run replay -- FILE...`: replays exported histories with the workflow code of this checkout (docs/operations.md,
// "Upgrade"). Each file is the output of `temporal workflow show --output json`. Exits with 1 when the code cannot replay one of
// them.
import { readFileSync } from 'node:fs';
import { basename } from 'node:path';

import { parseHistoryJson } from './history-json.ts';
import { bundle, replayHistory, repo, typeOf } from './replay-history.ts';

async function main(files: string[]): Promise<void> {
  if (files.length === 0) throw new Error('Name the files of exported histories: npm run replay -- FILE...');
  const code = await bundle(repo);
  for (const file of files) {
    // One replay at a time: a long history takes much memory.
    const failure = await failureOf(file, code);
    console.log(`${file}: ${failure ?? 'replays'}`);
    if (failure !== null) process.exitCode = 1;
  }
}

async function failureOf(file: string, code: Awaited<ReturnType<typeof bundle>>): Promise<string | null> {
  try {
    const history = parseHistoryJson(readFileSync(file, 'utf8'));
    if (typeOf(history) === undefined) return 'not a history: it has no WorkflowExecutionStarted event';
    await replayHistory(code, history, basename(file));
    return null;
  } catch (error) {
    return error instanceof Error ? `${error.name}: ${error.message}` : String(error);
  }
}

await main(process.argv.slice(2));
