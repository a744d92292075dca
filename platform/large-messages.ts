// What the clients of Temporal may receive in one message.

/**
 * The history of one run of a job of many tasks comes as one message, and may exceed the 4 MiB that gRPC takes by itself; who cannot read it
 * cannot reset the run either. The SDK means to allow 128 MB, but its option lacks the prefix `grpc.`: to be removed when it has it.
 */
export const largeMessages = { channelArgs: { 'grpc.max_receive_message_length': 128 * 1024 * 1024 } };
