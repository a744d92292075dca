// Millionths of a dollar as people read them.

/** `$12.50`; under ten cents with four digits, so that small limits do not read as nothing. */
export const spellDollars = (micros: number): string => {
  const dollars = micros / 1e6;
  return `$${dollars.toFixed(dollars !== 0 && Math.abs(dollars) < 0.1 ? 4 : 2)}`;
};
