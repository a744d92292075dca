// The id of an admission names the user whom it is for, by id. User ids are never reused, so that a private object belongs to
// the user: one who is removed and added again under the same name does not inherit it. The workflow's memo has the id too,
// and survives the restore of an older database.
import { randomId } from '../../platform/ids.ts';

export const newAdmissionId = (userId: string): string => `${randomId('adm')}_${userId}`;

export const isAdmissionOf = (userId: string, admissionId: string): boolean => admissionId.endsWith(`_${userId}`);
