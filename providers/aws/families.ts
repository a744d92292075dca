// Instance type families that are considered when a request names none: recent general-purpose ones. Burstable ones (t3, t4g)
// are excluded: a cluster computes all the time, and beyond their baseline they are throttled or billed for credits. Previous
// generations and special families are excluded too; a request may name any type.
import type { InstanceFamilies } from '../../domain/offers/choose.ts';

export const awsFamilies: InstanceFamilies = {
  balanced: /^(m5|m6i|m6a|m6g|m7i|m7a|m7g|m8i|m8a|m8g)\./,
  all: /^([cmr](5|6i|6a|6g|7i|7a|7g|8i|8a|8g))\./,
  gpu: /^(g4dn|g5|g6|g6e|p3)\./,
};

/** EC2's NVIDIA GPU families, including those that a request must name. */
export const hasGpu = (type: string): boolean => /^(g[4-9]|gr[4-9]|p[2-9])/.test(type) && !type.startsWith('g4ad');
