/** `unknown` is any error: nothing certain was learned. */
export type WorkflowPresence = 'open' | 'closed' | 'not found' | 'unknown';

export const isMissing = (presence: WorkflowPresence): boolean => presence === 'closed' || presence === 'not found';
