// The largest message that the clients of Temporal may receive.

/**
 * The history of one run of a job of many tasks comes as one message, and may exceed gRPC's default limit of 4 MiB; without
 * it the run cannot be reset. The SDK intends to allow 128 MB, but its option lacks the prefix `grpc.`: remove this once the SDK has it.
 */
export const largeMessages = { channelArgs: { 'grpc.max_receive_message_length': 128 * 1024 * 1024 } };
