// The id of an admission contains its user's id. User ids are never reused, so a user who is removed and added again under the same name does not
// inherit private objects. The workflow's memo contains the id too, and survives a restore of an older database.
import { randomId } from '../../platform/ids.ts';

export const newAdmissionId = (userId: string): string => `${randomId('adm')}_${userId}`;

export const isAdmissionOf = (userId: string, admissionId: string): boolean => admissionId.endsWith(`_${userId}`);
