export { CallbackError, type CallbackFault, type HeadersLike, signed, type SignOptions, type UnknownCallback, verified,
  type VerifyOptions } from './callbacks.ts'
export { type CallOptions, clientOf, type ClientOptions, type Description, type Keyed, type Pages, type WaitOptions } from './client.ts'
export { AccessError, AnswerError, BusyError, type CallError, ConflictError, ConnectionError, CreditsError, DispatchError, DocumentError,
  InvalidRequestError, isCallError, NotFoundError, PartialDispatchError, ProviderError, UnknownOutcomeError } from './errors.ts'
export type { ServerEvent } from './events.ts'
export type { Operations } from './operations.ts'
export type { FileSource, Progress, Upload } from './upload.ts'
