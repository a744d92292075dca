// Families of instance types that are considered when a request names none: general-purpose ones of the last generations.
// None that is burstable beyond a baseline of its own price class, previous or exotic: a request may name those.
import type { InstanceFamilies } from '../../domain/offers/choose.ts';

export const awsFamilies: InstanceFamilies = {
  balanced: /^(t3|t4g|m5|m6i|m6a|m6g|m7i|m7a|m7g|m8i|m8a|m8g)\./,
  all: /^(t3|t4g|[cmr](5|6i|6a|6g|7i|7a|7g|8i|8a|8g))\./,
  gpu: /^(g4dn|g5|g6|g6e|p3)\./,
};
