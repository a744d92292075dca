// A line of JSON that many readers get: it is written once.
const encoder = new TextEncoder();

export class JsonLine {
  readonly text: string;
  private encoded: Uint8Array | null = null;

  constructor(text: string) {
    this.text = text;
  }

  /** With its end. */
  get bytes(): Uint8Array {
    this.encoded ??= encoder.encode(`${this.text}\n`);
    return this.encoded;
  }
}
