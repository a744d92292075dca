/** `1 instance`, `2 instances`. */
export const plural = (count: number, noun: string, several = `${noun}s`): string =>
  `${count} ${count === 1 ? noun : several}`;
