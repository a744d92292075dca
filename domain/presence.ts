/** `unknown`: any error, so the state is uncertain. */
export type WorkflowPresence = 'open' | 'closed' | 'not found' | 'unknown';

export const isMissing = (presence: WorkflowPresence): boolean => presence === 'closed' || presence === 'not found';
