/** The reason for a state: a code, a sentence, and the time of the change. */
export interface Reason {
  code: string;
  text: string;
  atMs: number;
  /** The user who requested it, if any. */
  by?: string;
}
