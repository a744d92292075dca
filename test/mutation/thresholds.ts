// The lowest mutation score, in percent, that each folder of domain/ may have.
export const thresholds: Record<string, number> = { other: 60 };
