// Histories as `temporal workflow show --output json` prints them: the JSON form of protobuf.
import { createRequire } from 'node:module';

import proto from '@temporalio/proto';

// Each of Temporal's packages has its own copy of protobufjs. The SDK's own `historyFromJSON` passes types of one copy to the
// parser of another, which refuses them ("type must be a Type"); this is the parser of the copy that created the types.
const ofProto = createRequire(createRequire(import.meta.url).resolve('@temporalio/proto'));
const { fromJson, toJson }: ProtoJson = ofProto('protobufjs/ext/protojson');
const { patchProtobufRoot }: PatchedRoot = ofProto('../lib/patch-protobuf-root');

type History = proto.temporal.api.history.v1.History;
interface ProtoJson {
  fromJson: (type: unknown, json: unknown, options: { ignoreUnknownFields: boolean }) => History;
  toJson: (type: unknown, message: History) => unknown;
}
interface PatchedRoot {
  patchProtobufRoot: (root: unknown) => { lookupType: (name: string) => unknown };
}

const historyType = patchProtobufRoot(proto).lookupType('temporal.api.history.v1.History');

/** Throws when the text is not a history. Fields that a newer server adds are ignored, as the SDK does. */
export function parseHistoryJson(text: string): History {
  return fromJson(historyType, JSON.parse(text), { ignoreUnknownFields: true });
}

export function printHistoryJson(history: History): string {
  return JSON.stringify(toJson(historyType, history), null, 2);
}
