// Words that the project does not use, because the field has a term of its own.

export interface Avoided {
  /** Matches words in lower case: `deadMan`, `dead-man` and `DEAD_MAN` all become "dead man" first. */
  words: RegExp;
  use: string;
}

export const avoided: readonly Avoided[] = [
  {
    words: /\bstand(s|ing)? still\b|\bstood still\b|\bstandstills?\b|\bheal(s|ed|ing)?\b/,
    use: 'stuck workflow, automatic reset',
  },
  { words: /\bdoors?\b/, use: 'ingress rules' },
  { words: /\bbelongings?\b/, use: 'cloud resources' },
  { words: /\bwish(es|ed)?\b/, use: 'requirements' },
  { words: /\b(judge|next|a|the|each|every) looks?\b|\blook soon\b|\blooks? at\b/, use: 'reconcile, liveness check' },
  { words: /\bbur(y|ies|ied)\b/, use: 'finalize' },
  { words: /\bnews\b|\btold\b|\btells?\b|\btelling\b/, use: 'event, update, notify, report, distinguish' },
  { words: /\bholders?\b/, use: 'reservation' },
  { words: /\bdoubts?\b|\btries one at a time\b/, use: 'canary launch' },
  { words: /\blacking\b|\bask but\b/, use: 'unavailable offerings, excluded pools' },
  { words: /\btaken back\b|\bvacat(es?|ing)\b|\bleaves at ms\b/, use: 'interrupted, terminatesAtMs' },
  { words: /\bg(ive|ives|iving|ave|iven) back\b/, use: 'release, scale in' },
  { words: /\brow of failures\b|\bend row\b/, use: 'failure streak' },
  { words: /\bunclear\b/, use: 'unknown' },
  { words: /\bshould roll\b|\broll(s|ed|ing)?\b(?! back)/, use: 'continue as new' },
  { words: /\bfootprints?\b/, use: 'usage, quota reservation' },
  { words: /\bkeep the best\b/, use: 'selectWorkersToKeep' },
  {
    words: /\bbells?\b|\bkeepers?\b|\bdesks?\b|\bsurroundings\b/,
    use: 'notifier, result writer, subscription, cluster context',
  },
  { words: /\bbody room\b/, use: 'request-body memory budget' },
  { words: /\bkept workspaces?\b|\blast known\b|\bpending views?\b/, use: 'rows of the database' },
  { words: /\bdead man\b/, use: 'watchdog' },
  { words: /\bstrays?\b|\bleft (the|its|their) group\b/, use: 'orphaned processes' },
  { words: /\bwhere was\b/, use: 'locate' },
  { words: /\bpatiently\b/, use: 'with retry' },
  { words: /\bfor ever\b/, use: 'forever' },
  { words: /\b(is|are|was|were) over\b/, use: 'has ended' },
  { words: /\bis away\b|\bbe had\b|\bcomes? to be\b/, use: 'is unavailable, is created' },
  { words: /\bworlds?\b/, use: 'simulation' },
  { words: /\b(whoever|nobody|somebody|anybody|everybody)\b/, use: 'the actor: the agent, the API, no client' },
];

/** The permitted uses of these words: a path, the word, and the reason. */
export const exceptions: readonly { path: string; word: string; reason: string }[] = [
  { path: 'dev/temporal.ts', word: 'news', reason: "an option of Temporal's server" },
  { path: 'docs/names.md', word: 'belonging', reason: 'listed there as avoided' },
  { path: 'docs/names.md', word: 'doors', reason: 'listed there as avoided' },
];

/** Identifiers as words: `terminatesAtMs` and `leaves-at-ms` become `leaves at ms`. */
export const wordsOf = (text: string): string =>
  text
    .replaceAll(/([a-z0-9])([A-Z])/g, '$1 $2')
    .replaceAll(/[_-]/g, ' ')
    .toLowerCase();
