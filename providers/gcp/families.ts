// Machine type families that are considered when a request names none: recent general-purpose ones. Shared-core types and E2,
// whose processor varies, are excluded; a request may name any type.
import type { InstanceFamilies } from '../../domain/offers/choose.ts';

export const gcpFamilies: InstanceFamilies = {
  balanced: /^(n2|n2d|c3|c3d|c4|c4d|n4|t2a|c4a)-standard-\d+$/,
  all: /^(n2|n2d|c3|c3d|c4|c4d|n4|t2a|c4a)-(standard|highmem|highcpu)-\d+$/,
  gpu: /^(g2-|n1-standard-\d+\+)/,
};
