/**
 * The client of Temporal repeats a failed call from a timer, and closing its connection stops no such timer. The repeat
 * then throws where nobody can catch it and ends the process, before its stores are closed. With these options the
 * repeat fails its own call instead: a call that the connection's end overtakes is rejected as cancelled.
 */
import { InterceptingCall, type Interceptor, Metadata, status } from '@grpc/grpc-js';
import {
  type ConnectionOptions,
  defaultGrpcRetryOptions,
  makeGrpcRetryInterceptor,
} from '@temporalio/client';

/** The options of a connection that can be closed while calls are waiting to be repeated. */
export function closable(options: ConnectionOptions): ConnectionOptions {
  return { ...options, interceptors: [makeGrpcRetryInterceptor(defaultGrpcRetryOptions()), failAfterClose] };
}

type Call = ReturnType<Parameters<Interceptor>[1]>;

/** Stands after the repeating interceptor, so that its repeats pass here too. */
const failAfterClose: Interceptor = (options, nextCall) => {
  let call: Call;
  try {
    call = nextCall(options);
  } catch (error) {
    call = cancelledCall(error instanceof Error ? error.message : String(error));
  }
  return new InterceptingCall(call);
};

/** A call that was never sent. Cancelled is the one outcome of it that is not repeated again. */
function cancelledCall(details: string): Call {
  const ignore = (): void => undefined;
  return {
    cancelWithStatus: ignore,
    getPeer: () => 'none',
    sendMessageWithContext: ignore,
    sendMessage: ignore,
    startRead: ignore,
    halfClose: ignore,
    getAuthContext: () => null,
    start(_metadata, listener) {
      listener?.onReceiveMessage?.(null);
      listener?.onReceiveStatus?.({ code: status.CANCELLED, details, metadata: new Metadata() });
    },
  };
}
