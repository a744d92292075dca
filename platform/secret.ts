// A value that must never be printed by accident: every way of turning it into text gives `[secret]`. Only reveal()
// hands it out, so a search for `reveal(` finds each place where a secret is used.

export interface Secret {
  /** The value itself. Never pass it to a log, an error or argv. */
  reveal(): string;
  toString(): string;
  toJSON(): string;
}

export function createSecret(value: string): Secret {
  return Object.freeze({
    reveal: () => value,
    toString: () => hidden,
    toJSON: () => hidden,
    [Symbol.toPrimitive]: () => hidden,
    [Symbol.for('nodejs.util.inspect.custom')]: () => hidden,
  });
}

const hidden = '[secret]';
