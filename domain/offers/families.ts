// Which families of instance types are considered when nobody names one: general-purpose ones of the last generations,
// none that is burstable beyond a baseline of its own price class, previous or exotic. Whoever wants another names it.

interface Families {
  /** Four GiB of memory per vCPU, about. */
  balanced: RegExp;
  /** Also those with more compute or more memory. */
  all: RegExp;
  gpu: RegExp;
}

const byProvider: Record<string, Families> = {
  aws: {
    balanced: /^(t3|t4g|m5|m6i|m6a|m6g|m7i|m7a|m7g|m8i|m8a|m8g)\./,
    all: /^(t3|t4g|[cmr](5|6i|6a|6g|7i|7a|7g|8i|8a|8g))\./,
    gpu: /^(g4dn|g5|g6|g6e|p3)\./,
  },
};

const anything: Families = { balanced: /^/, all: /^/, gpu: /^/ };

/** A provider without a table has no families: everything it offers is considered. */
export const familiesOf = (provider: string): Families => byProvider[provider] ?? anything;
