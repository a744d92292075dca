/** Why a state is what it is: a short machine word, a sentence for people, and when it became so. */
export interface Reason {
  code: string;
  text: string;
  atMs: number;
  /** The user who asked for it, when one did. */
  by?: string;
}
