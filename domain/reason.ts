/** Why a state is what it is: a short machine word, a sentence for people, and when it became so. */
export interface Reason {
  code: string;
  text: string;
  atMs: number;
  /** Who asked for it, when somebody did. */
  by?: string;
}
